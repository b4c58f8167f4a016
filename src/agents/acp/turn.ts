import { AgentError } from '../../domain/model/errors.ts';
import { JsonRpcClosedError } from '../../lib/json-rpc/index.ts';
import { within } from '../../lib/within.ts';
import { departureError, type AgentConnection } from '../shared/connection.ts';
import type { EventStream } from '../shared/event-stream.ts';
import { LATE_FIGURES_MS, type StopPatience } from '../shared/patience.ts';
import { rpcError } from './classify.ts';
import type { Opened } from './handshake.ts';
import { judge, type Circumstances, type TurnFacts, type TurnVerdict } from './judge.ts';
import type { Listener } from './listener.ts';
import { promptResult } from './parse.ts';
import { createTurnReader, tellUsage } from './turn-reader.ts';
import type { Conversations } from './conversations.ts';
import type { Usage } from './usage.ts';

export interface TurnParts {
  readonly opened: Opened;
  readonly connection: AgentConnection;
  readonly listener: Listener;
  readonly usage: Usage;
  readonly conversations: Pick<Conversations, 'mayTellCost' | 'costMissed'>;
  readonly clock: { now(): number };
  readonly patience: StopPatience;
}

export interface TurnInput {
  readonly prompt: string;
  readonly events: EventStream;
  readonly isFirst: boolean;
  readonly changedBefore: boolean;
}

/** How a turn came to its end, before it is judged. The first to happen counts. */
type Ending =
  | { readonly type: 'answered'; readonly result: unknown }
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'aborted' }
  | { readonly type: 'needs_person'; readonly why: string };

/** Takes one turn: a request that stays open until the agent is done, fails, is cancelled, or needs a person. */
export async function takeTurn(
  parts: TurnParts,
  { prompt, events, isFirst, changedBefore }: TurnInput,
  signal: AbortSignal,
): Promise<{ readonly verdict: TurnVerdict; readonly changed: boolean }> {
  const { opened, connection, listener, usage, clock } = parts;
  const { sessionId, ways } = opened;
  const reader = createTurnReader({ events, usage, ways, mayReplay: isFirst && opened.wasLoaded });
  const over = new AbortController();
  const needsPerson = new Promise<Ending>((resolve) => {
    listener.beginTurn({ sessionId, reader, events, onNeedsPerson: (why) => resolve({ type: 'needs_person', why }) });
  });
  try {
    const asked = connection.peer.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: prompt }] });
    const answer = asked.then<Ending, Ending>(
      (result) => ({ type: 'answered', result }),
      (error: unknown) => ({ type: 'failed', error }),
    );
    const stopped = aborted(signal, over.signal);
    const ending = await Promise.race([answer, needsPerson, stopped]);
    if (ending.type === 'aborted' || ending.type === 'needs_person') await interrupt(parts, answer);
    // What comes later is no work of the turn.
    const facts = reader.facts();
    if (ending.type === 'answered') await lateCost(parts, stopped);
    events.endMessage();
    // What a cancelled turn spent is told with its answer.
    countUsage(usage, events, await Promise.race([answer, Promise.resolve(ending)]));
    return { verdict: await verdictOn(ending, facts, connection, { now: clock.now(), changedBefore }), changed: facts.changed };
  } finally {
    over.abort();
    listener.endTurn();
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
async function interrupt({ opened, connection, listener, patience }: TurnParts, answer: Promise<unknown>): Promise<void> {
  listener.cancelTurn();
  connection.peer.notify('session/cancel', { sessionId: opened.sessionId });
  await within(patience.interruptMs, answer);
}

/** Some agents tell what a turn has cost only after its answer, and the last one would be lost. */
async function lateCost({ usage, conversations, connection, listener }: TurnParts, stopped: Promise<unknown>): Promise<void> {
  if (!conversations.mayTellCost() && listener.costBetweenTurns() === null) return;
  const isSettled = await within(LATE_FIGURES_MS, Promise.race([usage.costOfTurn(), connection.peer.closed, stopped]));
  if (!isSettled) conversations.costMissed();
}

function countUsage(usage: Usage, events: EventStream, ending: Ending): void {
  const read = ending.type === 'answered' ? promptResult.safeParse(ending.result) : null;
  usage.turnEnded(read?.success ? read.data : null);
  tellUsage(usage, events);
}

async function verdictOn(
  ending: Ending,
  facts: TurnFacts,
  connection: AgentConnection,
  circumstances: Circumstances,
): Promise<TurnVerdict> {
  switch (ending.type) {
    case 'aborted':
      return fail('turn_cancelled', 'the turn was told to stop');
    case 'needs_person':
      return fail('agent_needs_person', ending.why);
    case 'failed': {
      if (ending.error instanceof JsonRpcClosedError)
        return { ok: false, error: departureError(await connection.over, 'the agent') };
      const situation = { what: 'the turn failed', now: circumstances.now, otherwise: 'turn_failed' } as const;
      return { ok: false, error: rpcError(ending.error, situation) };
    }
    case 'answered': {
      const read = promptResult.safeParse(ending.result);
      if (read.success) return judge(read.data.stopReason, facts, circumstances);
      return fail('agent_protocol_error', 'the answer to session/prompt has no stop reason');
    }
  }
}

function fail(kind: AgentError['kind'], detail: string): TurnVerdict {
  return { ok: false, error: new AgentError({ kind, detail }) };
}
