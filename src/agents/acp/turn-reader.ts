import { isBlank } from '../shared/blank.ts';
import type { EventStream } from '../shared/event-stream.ts';
import { keptName, keyOf } from '../shared/remembered.ts';
import { keptInput } from '../shared/tool-text.ts';
import { createEvidence, type Evidence, type TurnFacts } from './judge.ts';
import type { AgentWays } from './known-agents.ts';
import {
  inputOf,
  toolNameOf,
  planProgress,
  sessionUpdate,
  type Chunk,
  type SessionUpdate,
  type ToolCall,
  type UsageFigures,
} from './parse.ts';
import type { Usage } from './usage.ts';

/** Reads the updates of one turn: tells them as events, and keeps what the turn is judged by. */
export interface TurnReader {
  update(update: unknown): void;
  permissionGiven(call: ToolCall): void;
  /** Whatever was asked for is refused; the call is null where the agent names none. */
  permissionRefused(what: string, call: ToolCall | null): void;
  facts(): TurnFacts;
}

export interface ReaderParts {
  readonly events: EventStream;
  readonly usage: Usage;
  readonly ways: AgentWays;
  /** True: the conversation was loaded just now, and parts of it may still be repeated. */
  readonly mayReplay: boolean;
}

export function createTurnReader({ events, usage, ways, mayReplay }: ReaderParts): TurnReader {
  const evidence = createEvidence();
  const hear = createTextReader(events, evidence, ways);
  const calls = createCalls(events);
  const spent = createSpentReader(usage, events);
  const tellPlan = createPlanTeller(events);

  function sawTool(call: ToolCall): void {
    const known = calls.saw(call);
    if (known.isNew) usage.toolCalled();
    evidence.usedTool({ isDone: call.status === 'completed', canChange: !LOOKING.has(known.kind) });
  }

  function hearChunk(chunk: Chunk): void {
    hear(chunk);
    const { _meta: meta } = chunk;
    if (meta !== undefined) spent.request(meta.usage);
  }

  function noteState({ _meta }: Extract<SessionUpdate, { sessionUpdate: 'session_info_update' }>): void {
    evidence.stateIs(ways.stateOf(_meta));
  }

  function read(update: SessionUpdate): void {
    if (update.sessionUpdate === 'agent_message_chunk') hearChunk(update);
    if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') sawTool(update);
    if (update.sessionUpdate === 'plan') tellPlan(update.entries);
    if (update.sessionUpdate === 'usage_update') spent.conversation(update);
    if (update.sessionUpdate === 'session_info_update') noteState(update);
    // Gemini CLI repeats a conversation after it said that it is loaded: what stands before a prompt is history.
    if (update.sessionUpdate === 'user_message_chunk' && mayReplay) evidence.forget();
  }

  return {
    update(update) {
      const known = sessionUpdate.safeParse(update);
      if (known.success) read(known.data);
    },
    permissionGiven: sawTool,
    permissionRefused(what, call) {
      evidence.refused(what);
      if (call !== null) sawTool({ ...call, status: 'failed' });
    },
    facts: evidence.facts,
  };
}

/** Kinds of tools that look and change nothing. */
const LOOKING: ReadonlySet<string> = new Set(['read', 'search', 'fetch', 'think', 'switch_mode']);
/** More calls than this in one turn are not told apart any more. */
const MOST_CALLS = 5_000;

interface KnownCall {
  readonly name: string;
  readonly kind: string;
  readonly input: string | undefined;
  readonly isTold: boolean;
}

/** The tool calls of one turn. Agents repeat themselves, and tell what they call only little by little. */
function createCalls(events: EventStream) {
  const known = new Map<string, KnownCall>();
  return {
    saw(call: ToolCall): { readonly isNew: boolean; readonly kind: string } {
      const { toolCallId: id, status } = call;
      const key = keyOf(id);
      const before = known.get(key);
      const now = knownOf(call, before);
      const { input } = now;
      if (before !== undefined || known.size < MOST_CALLS) known.set(key, now);
      if (now.isTold && before?.isTold !== true) events.toolStarted({ id, name: now.name, input });
      const isOver = status === 'completed' || status === 'failed';
      if (isOver) events.toolEnded({ id, ok: status === 'completed', input, output: call.rawOutput ?? call.content });
      return { isNew: before === undefined, kind: now.kind };
    },
  };
}

/** What is known of a call after another word of it. Only what is shown is kept: an input may be whole files. */
function knownOf(call: ToolCall, before: KnownCall | undefined): KnownCall {
  return {
    name: before?.name ?? keptName(toolNameOf(call)),
    kind: keptName(call.kind ?? '') || (before?.kind ?? ''),
    input: keptInput(inputOf(call)) ?? before?.input,
    isTold: before !== undefined || !isBeingWritten(call),
  };
}

/** The model has only begun to write the call: what it is called with comes with the next word of it, and before that nothing runs. */
function isBeingWritten({ status, rawInput, locations = [] }: ToolCall): boolean {
  const isEmpty = typeof rawInput === 'object' && rawInput !== null && Object.keys(rawInput).length === 0;
  return status === 'pending' && isEmpty && locations.length === 0;
}

/** Tells how far the plan has come, when that has changed. */
function createPlanTeller(events: EventStream): (entries: readonly { content: string; status?: string }[]) => void {
  let plan = '';
  return (entries) => {
    const text = planProgress(entries);
    if (text !== plan) events.notice(text);
    plan = text;
  };
}

/** Counts what is told of tokens and cost in a turn, and tells how much it has become. */
function createSpentReader(usage: Usage, events: EventStream) {
  return {
    request(figures: UsageFigures): void {
      usage.requestTold(figures);
      tellUsage(usage, events);
    },
    conversation({ used, cost }: Extract<SessionUpdate, { sessionUpdate: 'usage_update' }>): void {
      if (used !== undefined) usage.contextSeen(used);
      if (cost !== undefined) usage.cost(cost.amount, cost.currency);
      tellUsage(usage, events);
    },
  };
}

/** Tells what has been spent, when that has changed. */
export function tellUsage(usage: Usage, events: EventStream): void {
  const event = usage.news();
  if (event !== null) events.usage(event);
}

/** Model text is told and is work. The program's own words are neither; when the turn has failed they say why. */
function createTextReader(events: EventStream, evidence: Evidence, ways: AgentWays): (chunk: Chunk) => void {
  let messageId: string | undefined;

  function remark(said: string, isFailure: boolean): void {
    if (said === '') return;
    events.endMessage();
    events.notice(said);
    evidence.explained(said, isFailure);
  }

  return (chunk) => {
    const text = chunk.content?.text ?? '';
    const author = ways.authorOf(chunk);
    if (author !== 'model') return remark(text.trim(), author === 'failure');
    if (chunk.messageId !== messageId) events.endMessage();
    messageId = chunk.messageId;
    events.messagePart(text);
    const isOtherThanText = chunk.content !== undefined && chunk.content.type !== 'text';
    if (isOtherThanText || !isBlank(text)) evidence.wrote(text);
  };
}
