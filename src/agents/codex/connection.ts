import { setTimeout as delay } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { AgentError } from '../../domain/model/errors.ts';
import { createJsonRpcPeer, type JsonRpcPeer, type JsonRpcPeerOptions } from '../../lib/json-rpc/index.ts';
import { endStrays, ProcessStartError, startProcess, type ProcessExit, type RunningProcess } from '../../lib/process/index.ts';
import type { ProcessLedger } from '../../ports/agent.ts';

/** A running app server. */
export interface Connection {
  readonly peer: JsonRpcPeer;
  /** Resolves with the reason when the process is gone, with everything it started. */
  readonly over: Promise<AgentError>;
  /** Ends the process and everything it started. Safe to repeat. */
  stop(): Promise<void>;
}

export interface ConnectionOptions extends Pick<JsonRpcPeerOptions, 'onRequest' | 'onNotification' | 'onUnreadable'> {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly runId: string;
  /** `NAME=value` that every process of the session carries in its environment. */
  readonly marker: `${string}=${string}`;
  readonly processes: ProcessLedger;
  readonly stopGraceMs: number;
}

/** A longer line is cut: a whole session's memory depends on it. */
const MAX_LINE_BYTES = 1024 * 1024;
const STDERR_LENGTH = 2000;
const LEAVE_MS = 1000;

/** Starts the app server and speaks with it line by line, at the pace at which the lines are dealt with. */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  const child = await start(options);
  const peer = createJsonRpcPeer({
    ...options,
    envelope: 'bare',
    maxLineLength: MAX_LINE_BYTES,
    send: (line) => child.stdin.write(`${line}\n`),
  });
  const stop = createStop(child, peer, options);
  let leftByItself = false;
  /** A process that speaks or hears no more is about to leave, or of no use. */
  async function letLeave(): Promise<void> {
    leftByItself = await leaves(child);
    await stop();
  }
  const reading = read(child, peer);
  const left = peer.closed.then(letLeave);
  const over = Promise.all([reading, left]).then(async () => {
    const how = leftByItself ? null : await peer.closed;
    return exitError(await child.settled, child.stderrTail(), how);
  });
  return { peer, over, stop };
}

async function leaves(child: RunningProcess): Promise<boolean> {
  const patience = new AbortController();
  const late = delay(LEAVE_MS, false, { signal: patience.signal }).catch(() => false);
  const left = await Promise.race([child.exited.then(() => true), late]);
  patience.abort();
  return left;
}

async function start({
  command: [program = '', ...args],
  cwd,
  env,
  runId,
  processes,
}: ConnectionOptions): Promise<RunningProcess> {
  const onSpawn = (pid: number): void => processes.started(pid, runId);
  try {
    return await startProcess({ command: program, args, cwd, env, stdin: 'pipe', maxLineBytes: MAX_LINE_BYTES, onSpawn });
  } catch (error) {
    throw error instanceof ProcessStartError ? startError(error) : error;
  }
}

async function read(child: RunningProcess, peer: JsonRpcPeer): Promise<void> {
  try {
    for await (const line of child.lines()) peer.receive(line);
    peer.close('its output ended');
  } catch (error) {
    peer.close(error instanceof Error ? error.message : String(error));
  }
}

/** Codex leaves when its input ends; the signal follows for what does not. The same end for all who ask. */
function createStop(child: RunningProcess, peer: JsonRpcPeer, options: ConnectionOptions): () => Promise<void> {
  let stopping: Promise<void> | null = null;
  async function end(): Promise<void> {
    peer.close('the session is over');
    child.stdin.end();
    await child.stop(options.stopGraceMs);
    await endStrays(options.marker, 0);
    options.processes.ended(child.pid);
  }
  return () => (stopping ??= end());
}

function startError(error: ProcessStartError): AgentError {
  const isMissing = error.failure === 'not_found' || error.failure === 'not_executable';
  const remedy = isMissing ? '; install Codex or name its program in agent.command' : '';
  return new AgentError({
    kind: isMissing ? 'agent_not_found' : 'agent_exited',
    detail: `${error.message}${remedy}`,
    cause: error,
  });
}

/** `whyEnded` is null for a process that left by itself. */
function exitError({ code, signal }: ProcessExit, stderr: string, whyEnded: string | null): AgentError {
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  const detail = whyEnded === null ? `codex ended ${how}` : `codex was ended: ${whyEnded}`;
  const said = tailOf(stderr);
  const kind = whyEnded === null ? 'agent_exited' : 'agent_protocol_error';
  return new AgentError({ kind, detail: said === '' ? detail : `${detail}: ${said}` });
}

/** The last of what a program printed, without its colours, on one line. */
function tailOf(text: string): string {
  const plain = stripVTControlCharacters(text).replace(/\s+/g, ' ').trim();
  return plain.length > STDERR_LENGTH ? `…${plain.slice(-STDERR_LENGTH)}` : plain;
}
