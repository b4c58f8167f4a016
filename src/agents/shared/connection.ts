import { stripVTControlCharacters } from 'node:util';
import { AgentError } from '../../domain/model/errors.ts';
import { createJsonRpcPeer, type JsonRpcPeer, type JsonRpcPeerOptions } from '../../lib/json-rpc/index.ts';
import { endStrays, ProcessStartError, type ProcessExit, type RunningProcess } from '../../lib/process/index.ts';
import { within } from '../../lib/within.ts';
import type { AgentDeps, SessionRequest } from '../../ports/agent.ts';
import { startError } from './failures.ts';
import { hostOf } from './host.ts';
import { lastPart } from './last-part.ts';
import { ledgerOf } from './ledger.ts';
import { runMarker } from './run-environment.ts';
import { errorText } from '../../lib/error-text.ts';

/** A running agent that speaks JSON-RPC over its standard input and output. Process and conversation end each other. */
export interface AgentConnection {
  readonly peer: JsonRpcPeer;
  /** Resolves when the process is gone, with everything it started. */
  readonly over: Promise<Departure>;
  /** Lets the agent leave by itself, then ends it and everything it started. Safe to repeat: the grace of the first counts. */
  stop(graceMs?: number): Promise<void>;
}

/** How a process left. */
export interface Departure {
  readonly exit: ProcessExit;
  readonly stderr: string;
  /** Why it had to be ended; null for one that left by itself. */
  readonly whyEnded: string | null;
}

export interface ConnectionOptions extends Pick<
  JsonRpcPeerOptions,
  'onRequest' | 'onNotification' | 'onUnreadable' | 'envelope'
> {
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly request: SessionRequest;
  readonly deps: AgentDeps;
  readonly stopGraceMs: number;
  /** What to do when the program cannot be found. */
  readonly remedy: string;
}

/** A longer message is left out: the memory of all sessions depends on it. Agents put whole files into their requests. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
/** An agent leaves by itself when its input ends. Most take a tenth of this. */
const LEAVE_MS = 1_000;
const STRAY_GRACE_MS = 500;

/** Starts the agent and speaks with it line by line, at the pace at which the lines are dealt with. */
export async function connect(options: ConnectionOptions): Promise<AgentConnection> {
  const child = await start(options);
  const peer = createJsonRpcPeer({
    ...options,
    maxLineLength: MAX_LINE_BYTES,
    send: (line) => child.stdin.write(`${line}\n`),
  });
  const stop = createStop(child, peer, options);
  const reading = read(child, peer);
  let leftByItself = false;
  const left = peer.closed.then(async () => {
    leftByItself = await within(LEAVE_MS, child.exited);
    await stop();
  });
  const over = Promise.all([reading, left]).then(async (): Promise<Departure> => {
    const whyEnded = leftByItself ? null : await peer.closed;
    return { exit: await child.settled, stderr: child.stderrTail(), whyEnded };
  });
  return { peer, over, stop };
}

/** What a departure means for the turn or session that it broke off. `name` is what the agent is called. */
export function departureError({ exit, stderr, whyEnded }: Departure, name: string): AgentError {
  const how = exit.signal === null ? `with exit code ${exit.code}` : `by ${exit.signal}`;
  const detail = whyEnded === null ? `${name} ended ${how}` : `${name} was ended: ${whyEnded}`;
  const said = lastWords(stderr);
  const kind = whyEnded === null ? 'agent_exited' : 'agent_protocol_error';
  return new AgentError({ kind, detail: said === '' ? detail : `${detail}: ${said}` });
}

async function start({ command, env, request, deps, remedy }: ConnectionOptions): Promise<RunningProcess> {
  const [program = '', ...args] = command;
  const onSpawn = (pid: number): void => ledgerOf(deps).started(pid, request.runId);
  const cwd = request.workspacePath;
  try {
    const { user } = deps;
    return await hostOf(deps).start({
      command: program,
      args,
      cwd,
      env,
      user,
      stdin: 'pipe',
      maxLineBytes: MAX_LINE_BYTES,
      onSpawn,
    });
  } catch (error) {
    throw error instanceof ProcessStartError ? startError(error, remedy) : error;
  }
}

async function read(child: RunningProcess, peer: JsonRpcPeer): Promise<void> {
  try {
    for await (const line of child.lines()) peer.receive(line);
    peer.close('its output ended');
  } catch (error) {
    peer.close(errorText(error));
  }
}

/** The same end for all who ask. */
function createStop(child: RunningProcess, peer: JsonRpcPeer, options: ConnectionOptions): AgentConnection['stop'] {
  const { stopGraceMs, request, deps } = options;
  let stopping: Promise<void> | null = null;
  async function end(graceMs: number): Promise<void> {
    const startedAt = performance.now();
    peer.close('the session is over');
    child.stdin.end();
    await within(Math.min(LEAVE_MS, graceMs / 2), child.exited);
    await child.stop(Math.max(1, graceMs - (performance.now() - startedAt)));
    await endStrays(runMarker(request), STRAY_GRACE_MS);
    ledgerOf(deps).ended(child.pid);
  }
  return (graceMs = stopGraceMs) => (stopping ??= end(graceMs));
}

const LAST_WORDS_LENGTH = 2_000;

/** The last of what a program printed, without its colours, on one line. */
function lastWords(text: string): string {
  const plain = stripVTControlCharacters(text).replace(/\s+/g, ' ').trim();
  return lastPart(plain, LAST_WORDS_LENGTH);
}
