import { AgentError } from '../../domain/model/errors.ts';
import { JsonRpcClosedError } from '../../lib/json-rpc/index.ts';
import { rpcError } from './classify.ts';
import { within, type Connection } from './connection.ts';
import type { Desk } from './desk.ts';
import type { EventGate } from './event-gate.ts';
import type { TurnFacts } from './evidence.ts';
import type { Opened } from './handshake.ts';
import { judge, type Verdict } from './judge.ts';
import { createTurnStory } from './turn-story.ts';
import type { UsageBook } from './usage.ts';
import { promptResult } from './wire.ts';

export interface TurnParts {
  readonly opened: Opened;
  readonly connection: Connection;
  readonly desk: Desk;
  readonly usage: UsageBook;
  readonly clock: { now(): number };
  /** How long a cancelled turn may take to give in. */
  readonly cancelMs: number;
}

export interface TurnInput {
  readonly prompt: string;
  readonly gate: EventGate;
  readonly isFirst: boolean;
}

/** How a turn came to its end, before it is judged. The first to happen counts. */
type Ending =
  | { readonly type: 'answered'; readonly result: unknown }
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'aborted' }
  | { readonly type: 'needs_person'; readonly why: string };

/** Takes one turn: a request that stays open until the agent is done, fails, is cancelled, or needs a person. */
export async function takeTurn(parts: TurnParts, { prompt, gate, isFirst }: TurnInput, signal: AbortSignal): Promise<Verdict> {
  const { opened, connection, desk, usage } = parts;
  const { sessionId, ways } = opened;
  const story = createTurnStory({ gate, usage, ways, mayReplay: isFirst && opened.wasLoaded });
  const over = new AbortController();
  const needsPerson = new Promise<Ending>((resolve) => {
    desk.beginTurn({ sessionId, story, gate, onNeedsPerson: (why) => resolve({ type: 'needs_person', why }) });
  });
  try {
    const asked = connection.peer.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: prompt }] });
    const answer = asked.then<Ending, Ending>(
      (result) => ({ type: 'answered', result }),
      (error: unknown) => ({ type: 'failed', error }),
    );
    const ending = await Promise.race([answer, needsPerson, aborted(signal, over.signal)]);
    if (ending.type === 'aborted' || ending.type === 'needs_person') await interrupt(parts, answer);
    gate.endMessage();
    // What a cancelled turn spent is told with its answer.
    countUsage(usage, gate, await Promise.race([answer, Promise.resolve(ending)]));
    return await verdictOn(ending, story.facts(), parts);
  } finally {
    over.abort();
    desk.endTurn();
  }
}

function aborted(signal: AbortSignal, over: AbortSignal): Promise<Ending> {
  return new Promise((resolve) => {
    const settle = (): void => resolve({ type: 'aborted' });
    if (signal.aborted) settle();
    else signal.addEventListener('abort', settle, { once: true, signal: over });
  });
}

/** Asks the agent to give in, and gives it some time to do so. */
async function interrupt({ opened, connection, desk, cancelMs }: TurnParts, answer: Promise<unknown>): Promise<void> {
  desk.cancelTurn();
  connection.peer.notify('session/cancel', { sessionId: opened.sessionId });
  await within(cancelMs, answer);
}

function countUsage(usage: UsageBook, gate: EventGate, ending: Ending): void {
  const read = ending.type === 'answered' ? promptResult.safeParse(ending.result) : null;
  if (read?.success) usage.answered(read.data);
  const event = usage.news(true);
  if (event !== null) gate.usage(event);
}

async function verdictOn(ending: Ending, facts: TurnFacts, { connection, clock }: TurnParts): Promise<Verdict> {
  switch (ending.type) {
    case 'aborted':
      return fail('turn_cancelled', 'the turn was told to stop');
    case 'needs_person':
      return fail('agent_needs_person', ending.why);
    case 'failed':
      if (ending.error instanceof JsonRpcClosedError) return fail('agent_exited', await connection.lastWords());
      return {
        ok: false,
        error: rpcError(ending.error, { what: 'the turn failed', now: clock.now(), otherwise: 'turn_failed' }),
      };
    case 'answered': {
      const read = promptResult.safeParse(ending.result);
      if (read.success) return judge(read.data.stopReason, facts, clock.now());
      return fail('agent_protocol_error', 'the answer to session/prompt has no stop reason');
    }
  }
}

function fail(kind: AgentError['kind'], detail: string): Verdict {
  return { ok: false, error: new AgentError({ kind, detail }) };
}
