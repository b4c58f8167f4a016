import type { EventGate } from './event-gate.ts';
import { createEvidence, type Evidence, type TurnFacts } from './evidence.ts';
import type { Peculiarities } from './peculiarities.ts';
import { createToolCalls } from './tool-calls.ts';
import type { UsageBook } from './usage.ts';
import { sessionUpdate, type Chunk, type SessionUpdate, type ToolCall } from './wire.ts';

/** Reads the updates of one turn: tells them as events, and keeps what the turn is judged by. */
export interface TurnStory {
  update(update: unknown): void;
  /** An update of another session, such as that of a sub-agent. */
  updateElsewhere(): void;
  permissionGiven(call: ToolCall): void;
  /** Whatever was asked for is refused; the call is null where the agent names none. */
  permissionRefused(what: string, call: ToolCall | null): void;
  facts(): TurnFacts;
}

export interface StoryParts {
  readonly gate: EventGate;
  readonly usage: UsageBook;
  readonly ways: Peculiarities;
  /** True: the conversation was loaded just now, and parts of it may still be repeated. */
  readonly mayReplay: boolean;
}

export function createTurnStory({ gate, usage, ways, mayReplay }: StoryParts): TurnStory {
  const tools = createToolCalls(gate);
  const evidence = createEvidence();
  const hear = createTextReader(gate, evidence, ways);

  function sawTool(call: ToolCall): void {
    tools.saw(call);
    evidence.usedTool(call.status === 'completed');
  }

  function countCost({ cost }: Extract<SessionUpdate, { sessionUpdate: 'usage_update' }>): void {
    if (cost === undefined) return;
    usage.cost(cost.amount, cost.currency);
    const event = usage.news(false);
    if (event !== null) gate.usage(event);
  }

  function noteState({ _meta }: Extract<SessionUpdate, { sessionUpdate: 'session_info_update' }>): void {
    const state = ways.stateOf(_meta);
    if (state === 'failed') evidence.failed();
    if (state === 'working') evidence.recovered();
  }

  function read(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return hear(update);
      case 'agent_thought_chunk':
        return gate.pulse('the agent is thinking');
      case 'tool_call':
      case 'tool_call_update':
        return sawTool(update);
      case 'plan':
        return gate.pulse(planOf(update.entries));
      case 'usage_update':
        return countCost(update);
      case 'session_info_update':
        return noteState(update);
      case 'user_message_chunk':
        // Gemini CLI repeats a conversation after it said that it is loaded: what stands before a prompt is history.
        if (mayReplay) evidence.forget();
    }
  }

  return {
    update(update) {
      const known = sessionUpdate.safeParse(update);
      if (known.success) read(known.data);
    },
    updateElsewhere: () => gate.pulse('another session of the agent is at work'),
    permissionGiven: sawTool,
    permissionRefused(what, call) {
      evidence.refused(what);
      if (call === null) return;
      sawTool(call);
      tools.refused(call);
    },
    facts: evidence.facts,
  };
}

/** Model text is told and is work. The program's own words are neither; when the turn has failed they say why. */
function createTextReader(gate: EventGate, evidence: Evidence, ways: Peculiarities): (chunk: Chunk) => void {
  let messageId: string | undefined;

  function remark(said: string, isFailure: boolean): void {
    if (said === '') return;
    gate.endMessage();
    gate.notice(said);
    evidence.explained(said, isFailure);
  }

  return (chunk) => {
    const text = chunk.content?.text ?? '';
    const author = ways.authorOf(chunk);
    if (author !== 'model') return remark(text.trim(), author === 'failure');
    if (chunk.messageId !== messageId) gate.endMessage();
    messageId = chunk.messageId;
    gate.say(text);
    const isOtherThanText = chunk.content !== undefined && chunk.content.type !== 'text';
    if (isOtherThanText || text.trim() !== '') evidence.wrote(text);
  };
}

function planOf(entries: readonly { content: string; status?: string }[]): string {
  const done = entries.filter(({ status }) => status === 'completed').length;
  const current = entries.find(({ status }) => status === 'in_progress');
  return `plan: ${done} of ${entries.length} steps done${current ? `, now: ${current.content}` : ''}`;
}
