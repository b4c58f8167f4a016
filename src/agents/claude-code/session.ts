import { randomUUID } from 'node:crypto';
import type { AgentSettings } from '../../domain/model/settings.ts';
import { endStrays, ProcessStartError } from '../../lib/process/index.ts';
import type { AgentDeps, AgentSession, SessionRequest, Turn, TurnResult } from '../../ports/agent.ts';
import { createEventStream, type EventStream } from '../shared/event-stream.ts';
import { cancelled, failedTurn, startError } from '../shared/failures.ts';
import { hostOf } from '../shared/host.ts';
import { ledgerOf } from '../shared/ledger.ts';
import { stopPatience } from '../shared/patience.ts';
import { aliveEvery, maskFor, runMarker } from '../shared/run-environment.ts';
import { argsFor, envFor, type Conversation } from './args.ts';
import { judge, type TurnVerdict } from './judge.ts';
import type { Options } from './options.ts';
import { createReader, takeTurn, type Patience } from './turn.ts';
import { createUsage } from './usage.ts';

export interface SessionParts {
  /** Program and arguments that stand before ours. */
  readonly command: readonly string[];
  readonly options: Options;
  readonly settings: AgentSettings;
  readonly deps: AgentDeps;
  readonly request: SessionRequest;
  /** The operator's own file of tool servers. */
  readonly mcpFile: string | null;
  /** How long a process may stay silent after its result; 2 minutes unless given. */
  readonly lingerMs?: number;
}

/** A conversation with Claude Code: each turn is a process of its own that goes on where the last one stopped. */
export function startSession(parts: SessionParts): AgentSession {
  const { deps, request, settings } = parts;
  const env = envFor(deps.env, request, parts.options, { isRoot: (deps.user?.uid ?? process.getuid?.()) === 0 });
  const mask = maskFor(env, deps.secrets?.());
  const conversation = keepConversation(request.resumeSessionId);
  const runProcess = createProcessRunner(parts, env, conversation);
  const stopped = new AbortController();
  let running: Promise<unknown> = Promise.resolve();

  async function run(turn: Turn, events: EventStream, signal: AbortSignal): Promise<TurnResult> {
    conversation.announce(events);
    const isResumed = !conversation.current().isNew;
    let verdict = await runProcess(turn, events, signal);
    if (verdict.type === 'lost' && isResumed && !signal.aborted) {
      conversation.replace(verdict.why, events);
      verdict = await runProcess(turn, events, signal);
    }
    if (verdict.type !== 'ok') return failedTurn(verdict.error, mask);
    for (const text of verdict.notices) events.notice(text);
    return { ok: true };
  }

  return {
    get sessionId() {
      return conversation.current().id;
    },
    hasTools: request.toolServer !== null,
    async runTurn(turn, onEvent, signal) {
      const either = AbortSignal.any([signal, stopped.signal]);
      if (either.aborted) return failedTurn(cancelled(), mask);
      const events = createEventStream({ onEvent, mask, aliveMs: aliveEvery(settings) });
      const result = run(turn, events, either).finally(() => events.close());
      running = result.catch(() => {});
      const outcome = await result;
      if (!either.aborted) return outcome;
      await endStrays(runMarker(request), STRAY_GRACE_MS);
      return failedTurn(cancelled(), mask);
    },
    async stop() {
      stopped.abort();
      await running;
      await endStrays(runMarker(request), STRAY_GRACE_MS);
    },
  };
}

/** What left the session's group belongs to work that is over. */
const STRAY_GRACE_MS = 500;

type ProcessRunner = (turn: Turn, events: EventStream, signal: AbortSignal) => Promise<TurnVerdict>;

/** One process is one turn, unless the conversation turns out to be lost. What it spends adds up over the session. */
function createProcessRunner(parts: SessionParts, env: Record<string, string>, conversation: ConversationKeeper): ProcessRunner {
  const { deps, request, options } = parts;
  const [command = '', ...before] = parts.command;
  const ledger = ledgerOf(deps);
  const usage = createUsage(!conversation.current().isNew);
  let changedBefore = false;
  return async ({ prompt, budgetUsd = null }, events, signal) => {
    if (conversation.current().isNew) usage.beginConversation();
    const reader = createReader({ events, usage, onInit: (id, model) => conversation.named(id, model, events) });
    const { toolServer, workspacePath: cwd, runId } = request;
    const args = argsFor({ options, conversation: conversation.current(), toolServer, mcpFile: parts.mcpFile, budgetUsd });
    const patience = patienceOf(parts, performance.now());
    const onSpawn = (pid: number): void => ledger.started(pid, runId);
    const start = { command, args: [...before, ...args], cwd, env, user: deps.user, onSpawn };
    try {
      const ending = await takeTurn({ start, host: hostOf(deps), prompt, reader, onEnd: ledger.ended, patience }, signal);
      const findings = reader.finish();
      const verdict = judge(findings, ending, { now: deps.clock.now(), mode: options.permission_mode, changedBefore });
      changedBefore ||= findings.changed;
      return verdict;
    } catch (error) {
      if (!(error instanceof ProcessStartError)) throw error;
      return { type: 'failed', error: startError(error, 'install Claude Code or name its program in agent.command') };
    }
  };
}

const LINGER_MS = 120_000;

/** A turn that went well must neither look stalled nor become one that took too long. */
function patienceOf({ settings, lingerMs = LINGER_MS }: SessionParts, startedAt: number): Patience {
  const { stopGraceMs, stallTimeoutMs, turnTimeoutMs } = settings;
  const longest = stallTimeoutMs > 0 ? Math.min(lingerMs, stallTimeoutMs / 2) : lingerMs;
  return {
    ...stopPatience(settings),
    afterResult() {
      const leftMs = Math.max(1, startedAt + turnTimeoutMs - performance.now());
      return { lingerMs: Math.min(longest, leftMs / 2), graceMs: Math.min(stopGraceMs, leftMs / 4) };
    },
  };
}

/** The conversation of a session: which one it is, and what was said about it. */
interface ConversationKeeper {
  current(): Conversation;
  /** Claude Code named the conversation and its model. */
  named(sessionId: string, model: string, events: EventStream): void;
  /** The old one cannot go on. */
  replace(why: string, events: EventStream): void;
  /** Says, once, when the session could not go on with what it was asked to. */
  announce(events: EventStream): void;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Goes on with a conversation, or starts one under an id of our choice, so that it is known before the first word. */
function keepConversation(resumeId: string | null): ConversationKeeper {
  const resumed = resumeId !== null && UUID.test(resumeId) ? { id: resumeId, isNew: false } : null;
  let conversation = resumed ?? newConversation();
  // Another agent kind's, for example, when the operator changed kinds.
  let foreignId = resumed === null ? resumeId : null;
  let told = '';
  return {
    current: () => conversation,
    named(sessionId, model, events) {
      conversation = { id: UUID.test(sessionId) ? sessionId : conversation.id, isNew: false };
      const { id } = conversation;
      if (told === `${id} ${model}`) return;
      told = `${id} ${model}`;
      events.sessionStarted(id, model);
    },
    replace(why, events) {
      events.notice(`the conversation ${conversation.id} cannot go on, ${why}: a new one is started`);
      conversation = newConversation();
    },
    announce(events) {
      if (foreignId === null) return;
      events.notice(`the conversation ${foreignId} is not one of Claude Code: a new one is started`);
      foreignId = null;
    },
  };
}

function newConversation(): Conversation {
  return { id: randomUUID(), isNew: true };
}
