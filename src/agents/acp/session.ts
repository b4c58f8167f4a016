import { setTimeout as delay } from 'node:timers/promises';
import { AgentError } from '../../domain/model/errors.ts';
import type { Mask } from '../../lib/http/index.ts';
import type { AgentSettings } from '../../domain/model/settings.ts';
import { JsonRpcClosedError } from '../../lib/json-rpc/index.ts';
import type { AgentDeps, AgentSession, SessionRequest, Turn, TurnResult } from '../../ports/agent.ts';
import { connect, departureError, type AgentConnection } from '../shared/connection.ts';
import { createEventStream, type EventStream } from '../shared/event-stream.ts';
import { cancelled, detailOf, failedTurn, masked } from '../shared/failures.ts';
import { startPatience, stopPatience } from '../shared/patience.ts';
import { aliveEvery, maskFor } from '../shared/run-environment.ts';
import { envFor } from './args.ts';
import { kindOf } from './classify.ts';
import { openSession, type HandshakeParts, type Opened } from './handshake.ts';
import type { AgentWays } from './known-agents.ts';
import { createListener, type Listener } from './listener.ts';
import type { Options } from './options.ts';
import { takeTurn, type TurnParts } from './turn.ts';
import type { Conversations } from './conversations.ts';
import { createUsage, type Usage } from './usage.ts';

export interface SessionParts {
  readonly command: readonly string[];
  readonly options: Options;
  readonly settings: AgentSettings;
  readonly deps: AgentDeps;
  readonly conversations: Conversations;
  readonly request: SessionRequest;
}

/** Starts the agent and opens a session with it. Throws an AgentError, after every process of it is gone. */
export async function startSession(parts: SessionParts, signal: AbortSignal): Promise<AgentSession> {
  const { command, settings, deps, request } = parts;
  if (signal.aborted) throw cancelled('the session was told to stop before it began');
  if ((command[0] ?? '') === '')
    throw new AgentError({ kind: 'agent_not_found', detail: 'no program is named; set agent.command' });
  const env = envFor(deps.env, request);
  const mask = maskFor({ ...env, ...request.toolServer?.env }, deps.secrets?.());
  const listener = createListener(parts.options.permission);
  const connection = await connect({
    ...listener,
    envelope: 'jsonrpc',
    command,
    env,
    request,
    deps,
    stopGraceMs: settings.stopGraceMs,
    remedy: 'install the agent or correct agent.command',
  });
  try {
    const opened = underCeilings(await openSession(handshakeParts(parts, connection, listener), signal), settings);
    const usage = await usageOf(parts, opened, listener);
    return createSession({
      opened,
      connection,
      listener,
      usage,
      conversations: parts.conversations,
      clock: deps.clock,
      patience: stopPatience(settings),
      mask,
      settings,
    });
  } catch (error) {
    const isOver = signal.aborted;
    const failure = isOver
      ? cancelled('the session was told to stop before it began')
      : await startFault(error, connection, listener);
    await connection.stop();
    throw masked(failure, mask);
  }
}

/**
 * What may be of one turn or of all adds up where a ceiling has to hold: to count too much ends a session too early, to
 * count too little never.
 */
function underCeilings(opened: Opened, { maxTokens, maxCostUsd }: AgentSettings): Opened {
  if (opened.ways.tokens !== 'unknown' || (maxTokens === 0 && maxCostUsd === 0)) return opened;
  const ceiling = maxTokens > 0 ? 'agent.max_tokens' : 'agent.max_cost_usd';
  const notice = `whether this agent counts the tokens of a turn or of all its turns is not known: its figures are added up, so that ${ceiling} holds`;
  return { ...opened, ways: { ...opened.ways, tokens: 'turn' }, notices: [...opened.notices, notice] };
}

/**
 * What a conversation had cost before is known from this daemon's own sessions, told by the agent when it was loaded, or
 * recorded with the runs before a restart.
 */
async function usageOf({ conversations, deps, request }: SessionParts, opened: Opened, listener: Listener): Promise<Usage> {
  const { sessionId, ways: covers, isResumed } = opened;
  const costBefore = isResumed ? (conversations.costOf(sessionId) ?? listener.costBetweenTurns()) : 0;
  const costRecorded = costBefore === null ? await deps.costRecorded?.(request.issueIdentifier, sessionId) : null;
  conversations.opened(sessionId, deps.clock.now());
  const onCost = (amount: number): void => conversations.costSeen(sessionId, amount);
  return createUsage({ covers, costBefore, costRecorded: costRecorded ?? null, onCost });
}

interface OpenSession extends TurnParts {
  readonly mask: Mask;
  readonly settings: AgentSettings;
}

/** A conversation with one process that lives as long as the session. */
function createSession(parts: OpenSession): AgentSession {
  const { opened, connection, mask, settings, patience } = parts;
  const stopped = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  let turns = 0;
  let changedBefore = false;

  async function run({ prompt }: Turn, events: EventStream, signal: AbortSignal): Promise<TurnResult> {
    const isFirst = turns === 0;
    turns += 1;
    try {
      if (isFirst) events.sessionStarted(opened.sessionId, opened.model ?? null);
      if (isFirst) for (const text of opened.notices) events.notice(text);
      const { verdict, changed } = await takeTurn(parts, { prompt, events, isFirst, changedBefore }, signal);
      changedBefore ||= changed;
      if (!verdict.ok) return signal.aborted ? await giveUp(patience.leaveMs) : failedTurn(verdict.error, mask);
      if (verdict.notice !== undefined) events.notice(verdict.notice);
      return { ok: true };
    } finally {
      events.close();
    }
  }

  /** A turn that was told to stop before it was answered is cancelled, whatever the agent says then. */
  async function giveUp(graceMs: number): Promise<TurnResult> {
    await connection.stop(graceMs);
    return failedTurn(cancelled(), mask);
  }

  return {
    sessionId: opened.sessionId,
    hasTools: opened.hasTools,
    runTurn(turn, onEvent, signal) {
      const either = AbortSignal.any([signal, stopped.signal]);
      if (either.aborted) return giveUp(settings.stopGraceMs);
      const result = run(turn, createEventStream({ onEvent, mask, aliveMs: aliveEvery(settings) }), either);
      running = result.catch(() => {});
      return result;
    },
    async stop() {
      stopped.abort();
      await running;
      await connection.stop();
    },
  };
}

function handshakeParts(parts: SessionParts, { peer }: AgentConnection, listener: Listener): HandshakeParts {
  const { options, settings, deps, request, conversations } = parts;
  return {
    peer,
    options,
    request,
    clock: deps.clock,
    timeoutMs: startPatience(settings),
    beforeLoad: async (sessionId, ways, signal) => {
      const wait = waitBeforeLoad(conversations.openedAt(sessionId), deps.clock.now(), ways);
      if (wait > 0) await delay(wait, undefined, { signal });
    },
    afterLoad: (signal) => untilSilent(listener, settings.readTimeoutMs, signal),
  };
}

const MINUTE_MS = 60_000;
/** The agent looks at its clock a little later than we do. */
const PAST_MINUTE_MS = 50;

/** How long to wait so that the agent does not load a conversation in the minute in which it would lose it. */
export function waitBeforeLoad(openedAt: number, now: number, { losesWithinMinute }: AgentWays): number {
  if (!losesWithinMinute) return 0;
  const minuteOver = (Math.floor(openedAt / MINUTE_MS) + 1) * MINUTE_MS;
  return now < minuteOver ? Math.min(minuteOver - now, MINUTE_MS) + PAST_MINUTE_MS : 0;
}

const SILENCE_MS = 200;

/** A loaded conversation is repeated, by some agents only after they said that it is loaded. None of it is new work. */
async function untilSilent(listener: Listener, longestMs: number, signal: AbortSignal): Promise<void> {
  const until = performance.now() + longestMs;
  let seen = -1;
  while (listener.updates() !== seen && performance.now() < until) {
    seen = listener.updates();
    await delay(SILENCE_MS, undefined, { signal });
  }
}

/** Why the session could not be opened, with what the agent printed instead of an answer. */
async function startFault(error: unknown, connection: AgentConnection, listener: Listener): Promise<AgentError> {
  if (error instanceof JsonRpcClosedError) {
    // Looked at before the process is told to end, so that how it ended is its own doing.
    const departure = departureError(await connection.over, 'the agent');
    const words = detailOf(departure);
    const kind = kindOf({ text: words }) === 'agent_not_logged_in' ? 'agent_not_logged_in' : departure.kind;
    return new AgentError({ kind, detail: `no session was opened: ${words}`, cause: error });
  }
  if (!(error instanceof AgentError)) throw error;
  if (error.kind !== 'agent_protocol_error' || listener.lastUnreadable() === '') return error;
  const detail = `${detailOf(error)}; it printed: ${listener.lastUnreadable()}; does agent.command start it in its protocol mode?`;
  return new AgentError({ kind: error.kind, detail, cause: error });
}
