import { AgentError, faultOf } from '../../domain/model/errors.ts';
import type { AgentSettings } from '../../domain/model/settings.ts';
import { maskSecrets } from '../../lib/http/index.ts';
import { ProcessStartError } from '../../lib/process/index.ts';
import type { AgentDeps, AgentSession, SessionRequest, TurnResult } from '../../ports/agent.ts';
import { argsFor, envFor, RUN_VARIABLE } from './args.ts';
import { keepConversation, type ConversationKeeper } from './conversation.ts';
import { createEventGate, type EventGate } from './event-gate.ts';
import { judge, type Verdict } from './judge.ts';
import type { SessionTools } from './mcp-config.ts';
import type { ClaudeCodeOptions } from './options.ts';
import { createReader } from './reader.ts';
import { endStrays } from '../../lib/process/index.ts';
import { runTurnProcess, type Patience } from './turn-process.ts';
import { createUsageBook } from './usage.ts';

export interface SessionParts {
  /** Program and arguments that stand before ours. */
  readonly command: readonly string[];
  readonly options: ClaudeCodeOptions;
  readonly settings: AgentSettings;
  readonly deps: AgentDeps;
  readonly request: SessionRequest;
  readonly tools: SessionTools;
  /** How long a process may stay silent after its result; 2 minutes unless given. */
  readonly lingerMs?: number;
}

const LINGER_MS = 120_000;

/** A conversation with Claude Code: each turn is a process of its own that goes on where the last one stopped. */
export function createSession(parts: SessionParts): AgentSession {
  const { deps, request } = parts;
  const env = envFor(deps.env, request, parts.options, { isRoot: process.getuid?.() === 0 });
  const secrets = secretsIn(env);
  const conversation = keepConversation(request.resumeSessionId);
  const takeProcess = createProcessTaker(parts, env, conversation);
  const stopped = new AbortController();
  let running: Promise<unknown> = Promise.resolve();

  async function takeTurn(prompt: string, gate: EventGate, signal: AbortSignal): Promise<TurnResult> {
    conversation.announce(gate);
    const isResumed = !conversation.current().isNew;
    let verdict = await takeProcess(prompt, gate, signal);
    if (verdict.type === 'lost' && isResumed && !signal.aborted) {
      conversation.replace(verdict.why, gate);
      verdict = await takeProcess(prompt, gate, signal);
    }
    if (verdict.type !== 'ok') return { ok: false, fault: maskedFault(verdict.error, secrets) };
    for (const text of verdict.notices) gate.emit({ type: 'notice', text });
    return { ok: true };
  }

  return {
    get sessionId() {
      return conversation.current().id;
    },
    hasTools: request.toolServer !== null,
    async runTurn(turn, onEvent, signal) {
      const either = AbortSignal.any([signal, stopped.signal]);
      if (either.aborted) return cancelled();
      const gate = createEventGate(onEvent, (text) => maskSecrets(text, secrets));
      const result = takeTurn(turn.prompt, gate, either).finally(() => gate.close());
      running = result.catch(() => {});
      const outcome = await result;
      if (!either.aborted) return outcome;
      await endStrays(`${RUN_VARIABLE}=${request.runId}`, STRAY_GRACE_MS);
      return cancelled();
    },
    async stop() {
      stopped.abort();
      await running;
      await endStrays(`${RUN_VARIABLE}=${request.runId}`, STRAY_GRACE_MS);
      await parts.tools.release();
    },
  };
}

type ProcessTaker = (prompt: string, gate: EventGate, signal: AbortSignal) => Promise<Verdict>;

/** One process is one turn, unless the conversation turns out to be lost. What it spends adds up over the session. */
function createProcessTaker(parts: SessionParts, env: Record<string, string>, conversation: ConversationKeeper): ProcessTaker {
  const { deps, request, settings } = parts;
  const [command = '', ...before] = parts.command;
  const usage = createUsageBook(!conversation.current().isNew);
  return async (prompt, gate, signal) => {
    if (conversation.current().isNew) usage.beginConversation();
    const reader = createReader({ gate, usage, onInit: (id, model) => conversation.named(id, model, gate) });
    const start = {
      command,
      args: [...before, ...argsFor(parts.options, conversation.current(), parts.tools)],
      cwd: request.workspacePath,
      env,
      onSpawn: (pid: number) => deps.processes.started(pid, request.runId),
    };
    const onEnd = (pid: number): void => deps.processes.ended(pid);
    const patience = patienceOf(settings, parts.lingerMs ?? LINGER_MS);
    try {
      const ending = await runTurnProcess({ start, prompt, reader, onEnd, patience }, signal);
      return judge(reader.finish(), ending, deps.clock.now());
    } catch (error) {
      if (!(error instanceof ProcessStartError)) throw error;
      return { type: 'failed', error: startError(error) };
    }
  };
}

/** What left the session's group belongs to work that is over. */
const STRAY_GRACE_MS = 500;

/** Half of the grace is for the interrupt, the rest for ending the group. */
function patienceOf({ readTimeoutMs, stopGraceMs }: AgentSettings, lingerMs: number): Patience {
  return { interruptMs: Math.min(readTimeoutMs, stopGraceMs / 2), stopGraceMs, lingerMs };
}

function startError(error: ProcessStartError): AgentError {
  const missing = error.failure === 'not_found' || error.failure === 'not_executable';
  const remedy = missing ? '; install Claude Code or name its program in agent.command' : '';
  return new AgentError({
    kind: missing ? 'agent_not_found' : 'agent_exited',
    detail: `${error.message}${remedy}`,
    cause: error,
  });
}

function cancelled(): TurnResult {
  return { ok: false, fault: faultOf(new AgentError({ kind: 'turn_cancelled', detail: 'the turn was told to stop' })) };
}

function maskedFault(error: AgentError, secrets: readonly string[]): Extract<TurnResult, { ok: false }>['fault'] {
  const fault = faultOf(error);
  return { ...fault, message: maskSecrets(fault.message, secrets) };
}

/** Values that an agent must not repeat into our logs: it may print its environment. */
function secretsIn(env: Readonly<Record<string, string>>): string[] {
  const named = Object.entries(env).filter(([name]) => /(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$/i.test(name));
  return named.map(([, value]) => value).filter((value) => value.length >= 8);
}
