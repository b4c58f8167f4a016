import { AgentError, faultOf, type Fault } from '../../domain/model/errors.ts';
import type { AgentSettings } from '../../domain/model/settings.ts';
import { maskSecrets } from '../../lib/http/index.ts';
import { JsonRpcClosedError } from '../../lib/json-rpc/index.ts';
import type { AgentDeps, AgentSession, SessionRequest } from '../../ports/agent.ts';
import { argsFor, envFor, KEY_VARIABLE, RUN_VARIABLE } from './args.ts';
import { cancelled, conductTurn, needsPerson, startPatience } from './conduct.ts';
import { connect, type Connection } from './connection.ts';
import { createEventGate } from './gate.ts';
import { openThread, type Thread } from './handshake.ts';
import { createListener, type Listener } from './listener.ts';
import type { CodexOptions } from './options.ts';
import { watchTurn } from './turn.ts';

export interface SessionParts {
  /** Program and arguments that stand before ours. */
  readonly command: readonly string[];
  readonly options: CodexOptions;
  readonly settings: AgentSettings;
  readonly deps: AgentDeps;
  readonly request: SessionRequest;
}

/** A conversation with Codex: one app server for all of its turns. */
export async function startSession(parts: SessionParts, signal: AbortSignal): Promise<AgentSession> {
  if (signal.aborted) throw cancelled();
  const { command, options, settings, deps, request } = parts;
  const clean = cleanerFor(parts);
  const listener = createListener({ options, ownServer: request.toolServer?.name ?? null, now: () => deps.clock.now() });
  const connection = await connect({
    ...listener,
    command: [...command, ...argsFor(request, deps.env)],
    cwd: request.workspacePath,
    env: envFor(request, deps.env),
    runId: request.runId,
    marker: `${RUN_VARIABLE}=${request.runId}`,
    processes: deps.processes,
    stopGraceMs: settings.stopGraceMs,
  });
  const patience = AbortSignal.timeout(startPatience(settings));
  try {
    const handshake = { options, request, apiKey: deps.env[KEY_VARIABLE] };
    const thread = await openThread(connection.peer, handshake, AbortSignal.any([signal, patience]));
    return createSession(parts, { connection, listener, thread, clean });
  } catch (error) {
    const failure = await startFailure(error, { connection, signal, patience, settings });
    await connection.stop();
    throw cleanError(failure, clean);
  }
}

interface OpenSession {
  readonly connection: Connection;
  readonly listener: Listener;
  readonly thread: Thread;
  readonly clean: (text: string) => string;
}

function createSession({ options, settings, deps, request }: SessionParts, open: OpenSession): AgentSession {
  const { connection, listener, thread, clean } = open;
  const over = new AbortController();
  let isAnnounced = false;
  if (thread.isNew) listener.usage.threadBegan(thread.id);
  if (thread.model !== null) listener.usage.modelIs(thread.model);
  if (thread.notice !== '') listener.note(thread.notice);

  return {
    sessionId: thread.id,
    hasTools: request.toolServer !== null,
    async runTurn(turn, onEvent, signal) {
      const either = AbortSignal.any([signal, over.signal]);
      const gate = createEventGate({ onEvent, clean, silenceMs: silenceOf(settings) });
      const watch = watchTurn(thread.id, gate.emit);
      if (!isAnnounced) gate.emit(announcement(thread));
      isAnnounced = true;
      listener.beginTurn({ watch, gate });
      try {
        const question = listener.question();
        if (question !== null) return { ok: false, fault: faultOf(needsPerson(question)) };
        const { workspacePath } = request;
        const now = (): number => deps.clock.now();
        const stage = { connection, listener, watch, threadId: thread.id, workspacePath, options, settings, now };
        const error = await conductTurn(stage, turn.prompt, either);
        return error === null ? { ok: true } : { ok: false, fault: cleanFault(error, clean) };
      } finally {
        watch.close();
        listener.endTurn();
        gate.close();
      }
    },
    async stop() {
      over.abort();
      await connection.stop();
    },
  };
}

function announcement({ id, model }: Thread): { type: 'session_started'; sessionId: string; model?: string } {
  return { type: 'session_started', sessionId: id, ...(model === null ? {} : { model }) };
}

const LONGEST_SILENCE_MS = 30_000;

/** Well before the watch for stalled sessions loses its patience. */
function silenceOf({ stallTimeoutMs }: AgentSettings): number {
  return stallTimeoutMs > 0 ? Math.min(LONGEST_SILENCE_MS, stallTimeoutMs / 3) : LONGEST_SILENCE_MS;
}

interface FailedStart {
  readonly connection: Connection;
  readonly signal: AbortSignal;
  readonly patience: AbortSignal;
  readonly settings: AgentSettings;
}

async function startFailure(error: unknown, { connection, signal, patience, settings }: FailedStart): Promise<unknown> {
  if (signal.aborted) return cancelled();
  if (error instanceof JsonRpcClosedError) return connection.over;
  if (!patience.aborted) return error;
  const detail = `codex did not get ready within ${startPatience(settings)} ms`;
  return new AgentError({ kind: 'agent_protocol_error', detail, cause: error });
}

/** Values that must not get into our logs: an agent may print its environment. */
function cleanerFor({ deps, request }: SessionParts): (text: string) => string {
  const env = { ...deps.env, ...request.toolServer?.env };
  const named = Object.entries(env).filter(([name]) => /(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$/i.test(name));
  const secrets = named.map(([, value]) => value).filter((value) => value.length >= 8);
  return (text) => maskSecrets(text, secrets);
}

function cleanFault(error: AgentError, clean: (text: string) => string): Fault {
  const fault = faultOf(error);
  return { ...fault, message: clean(fault.message) };
}

function cleanError(error: unknown, clean: (text: string) => string): unknown {
  if (!(error instanceof AgentError)) return error;
  const { kind, resetsAt, message, cause } = error;
  return new AgentError({ kind, resetsAt, cause, detail: clean(message.slice(`agent: ${kind}: `.length)) });
}
