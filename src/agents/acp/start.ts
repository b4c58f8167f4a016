import { setTimeout as delay } from 'node:timers/promises';
import { AgentError } from '../../domain/model/errors.ts';
import type { AgentSettings } from '../../domain/model/settings.ts';
import { maskSecrets } from '../../lib/http/index.ts';
import { JsonRpcClosedError } from '../../lib/json-rpc/index.ts';
import { ProcessStartError } from '../../lib/process/index.ts';
import type { AgentDeps, AgentSession, SessionRequest } from '../../ports/agent.ts';
import { kindOf } from './classify.ts';
import { connect, type Connection } from './connection.ts';
import type { Conversations } from './conversations.ts';
import { createDesk, type Desk } from './desk.ts';
import { openSession, type HandshakeParts } from './handshake.ts';
import type { AcpOptions } from './options.ts';
import type { Peculiarities } from './peculiarities.ts';
import { createSession } from './session.ts';
import { endStrays } from '../../lib/process/index.ts';
import { createUsageBook } from './usage.ts';

export interface StartParts {
  readonly command: readonly string[];
  readonly options: AcpOptions;
  readonly settings: AgentSettings;
  readonly deps: AgentDeps;
  readonly conversations: Conversations;
  readonly request: SessionRequest;
}

/** Agents load models and tools before they answer. */
const LONGEST_HANDSHAKE_MS = 60_000;
/** What left the session's group belongs to work that is over. */
const STRAY_GRACE_MS = 500;
const RUN_VARIABLE = 'FORAY_RUN_ID';

/** Starts the agent and opens a session with it. Throws an AgentError, after every process of it is gone. */
export async function startSession(parts: StartParts, signal: AbortSignal): Promise<AgentSession> {
  const { settings, deps, request, conversations } = parts;
  const env = envFor(deps.env, request);
  const secrets = secretsIn({ ...env, ...request.toolServer?.env });
  const clean = (text: string): string => maskSecrets(text, secrets);
  const desk = createDesk(parts.options.permission);
  if (signal.aborted) throw cancelled();
  const connection = await startProgram(parts, env, desk);
  const endProcesses = async (): Promise<void> => {
    await connection.end(settings.stopGraceMs);
    await endStrays(`${RUN_VARIABLE}=${request.runId}`, STRAY_GRACE_MS);
  };
  try {
    const opened = await openSession(handshakeParts(parts, connection, desk), signal);
    const costBefore = opened.isResumed ? conversations.costOf(opened.sessionId) : 0;
    conversations.opened(opened.sessionId, deps.clock.now());
    const usage = createUsageBook({
      covers: opened.ways,
      costBefore,
      onCost: (amount) => conversations.costSeen(opened.sessionId, amount),
    });
    const cancelMs = settings.readTimeoutMs;
    return createSession({ opened, connection, desk, usage, clock: deps.clock, clean, cancelMs, endProcesses });
  } catch (error) {
    try {
      // Looked at before the process is told to end, so that how it ended is its own doing.
      throw masked(signal.aborted ? cancelled() : await startFault(error, connection, desk), clean);
    } finally {
      await endProcesses();
    }
  }
}

/** The agent's environment: what the daemon hands down, whose run it is, and where. Some trust PWD over the directory. */
export function envFor(env: Readonly<Record<string, string>>, request: SessionRequest): Record<string, string> {
  return {
    ...env,
    PWD: request.workspacePath,
    [RUN_VARIABLE]: request.runId,
    FORAY_ISSUE_ID: request.issueId,
    FORAY_ISSUE_IDENTIFIER: request.issueIdentifier,
    FORAY_WORKSPACE: request.workspacePath,
  };
}

/** Values that an agent must not repeat into our logs: it may print its environment. */
function secretsIn(env: Readonly<Record<string, string>>): string[] {
  const named = Object.entries(env).filter(([name]) => /(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$/i.test(name));
  return named.map(([, value]) => value).filter((value) => value.length >= 8);
}

async function startProgram(parts: StartParts, env: Record<string, string>, desk: Desk): Promise<Connection> {
  const { deps, request } = parts;
  const [command = '', ...args] = parts.command;
  if (command === '') throw new AgentError({ kind: 'agent_not_found', detail: 'no program is named; set agent.command' });
  const onSpawn = (pid: number): void => deps.processes.started(pid, request.runId);
  const onEnd = (pid: number): void => deps.processes.ended(pid);
  try {
    return await connect({ command, args, cwd: request.workspacePath, env, onSpawn, onEnd }, desk.handlers);
  } catch (error) {
    throw error instanceof ProcessStartError ? programError(error) : error;
  }
}

function programError(error: ProcessStartError): AgentError {
  const isMissing = error.failure === 'not_found' || error.failure === 'not_executable';
  const detail = isMissing ? `${error.message}; install the agent or correct agent.command` : error.message;
  return new AgentError({ kind: isMissing ? 'agent_not_found' : 'agent_exited', detail, cause: error });
}

function handshakeParts(parts: StartParts, { peer }: Connection, desk: Desk): HandshakeParts {
  const { options, settings, deps, request, conversations } = parts;
  return {
    peer,
    options,
    request,
    clock: deps.clock,
    timeoutMs: Math.max(settings.readTimeoutMs, LONGEST_HANDSHAKE_MS),
    beforeLoad: async (sessionId, ways, signal) => {
      const wait = waitBeforeLoad(conversations.openedAt(sessionId), deps.clock.now(), ways);
      if (wait > 0) await delay(wait, undefined, { signal });
    },
    afterLoad: (signal) => untilSilent(desk, settings.readTimeoutMs, signal),
  };
}

const MINUTE_MS = 60_000;
/** The agent looks at its clock a little later than we do. */
const PAST_MINUTE_MS = 50;

/** How long to wait so that the agent does not load a conversation in the minute in which it would lose it. */
export function waitBeforeLoad(openedAt: number, now: number, { losesWithinMinute }: Peculiarities): number {
  if (!losesWithinMinute) return 0;
  const minuteOver = (Math.floor(openedAt / MINUTE_MS) + 1) * MINUTE_MS;
  return now < minuteOver ? Math.min(minuteOver - now, MINUTE_MS) + PAST_MINUTE_MS : 0;
}

const SILENCE_MS = 200;

/** A loaded conversation is repeated, by some agents only after they said that it is loaded. None of it is new work. */
async function untilSilent(desk: Desk, longestMs: number, signal: AbortSignal): Promise<void> {
  const until = performance.now() + longestMs;
  let seen = -1;
  while (desk.updates() !== seen && performance.now() < until) {
    seen = desk.updates();
    await delay(SILENCE_MS, undefined, { signal });
  }
}

/** Why the session could not be opened, with what the agent printed instead of an answer. */
async function startFault(error: unknown, connection: Connection, desk: Desk): Promise<AgentError> {
  if (error instanceof JsonRpcClosedError) {
    const words = await connection.lastWords();
    const kind = kindOf({ text: words }) === 'agent_not_logged_in' ? 'agent_not_logged_in' : 'agent_exited';
    return new AgentError({ kind, detail: `no session was opened: ${words}`, cause: error });
  }
  if (!(error instanceof AgentError)) throw error;
  if (error.kind !== 'agent_protocol_error' || desk.lastUnreadable() === '') return error;
  const detail = `${detailOf(error)}; it printed: ${desk.lastUnreadable()}; does agent.command start it in its protocol mode?`;
  return new AgentError({ kind: error.kind, detail, cause: error });
}

function masked(error: AgentError, clean: (text: string) => string): AgentError {
  const { kind, resetsAt, cause } = error;
  return new AgentError({ kind, detail: clean(detailOf(error)), resetsAt, cause });
}

function detailOf({ kind, message }: AgentError): string {
  return message.slice(`agent: ${kind}: `.length);
}

function cancelled(): AgentError {
  return new AgentError({ kind: 'turn_cancelled', detail: 'the session was told to stop before it began' });
}
