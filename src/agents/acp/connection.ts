import { setTimeout as delay } from 'node:timers/promises';
import { createJsonRpcPeer, type JsonRpcPeer, type JsonRpcPeerOptions } from '../../lib/json-rpc/index.ts';
import { startProcess, type ProcessExit, type ProcessOptions, type RunningProcess } from '../../lib/process/index.ts';

export type Handlers = Pick<JsonRpcPeerOptions, 'onRequest' | 'onNotification' | 'onUnreadable'>;

/** An agent's process and the conversation with it. Either ends the other. */
export interface Connection {
  readonly peer: JsonRpcPeer;
  /** How the process ended, with its last words. Waits a moment for them. */
  lastWords(): Promise<string>;
  /** Lets the agent leave by itself, then ends its whole group. Safe to repeat. */
  end(graceMs: number): Promise<void>;
}

/** Longer messages are not read: a permission request may carry a whole file. */
const MAX_LINE_BYTES = 1024 * 1024;
/** What may wait for an agent that does not read. A prompt is far smaller. */
const MAX_PENDING_LENGTH = 8 * 1024 * 1024;
const LAST_WORDS_MS = 1_000;
/** An agent leaves by itself when its input ends. Most take a tenth of this. */
const LEAVE_MS = 1_000;

export async function connect(
  start: Pick<ProcessOptions, 'command' | 'args' | 'cwd' | 'env' | 'onSpawn'> & { onEnd: (pid: number) => void },
  handlers: Handlers,
): Promise<Connection> {
  const child = await startProcess({ ...start, stdin: 'pipe', maxLineBytes: MAX_LINE_BYTES });
  void child.settled.then(() => start.onEnd(child.pid));
  const peer = createJsonRpcPeer({
    ...handlers,
    envelope: 'jsonrpc',
    send: (line) => child.stdin.write(`${line}\n`),
    maxPendingLength: MAX_PENDING_LENGTH,
  });
  const finished = readAll(child, peer);
  let ending: Promise<void> | null = null;
  return {
    peer,
    async lastWords() {
      await within(LAST_WORDS_MS, finished);
      const exit = await Promise.race([child.settled, Promise.resolve(null)]);
      return describeEnd(exit, child.stderrTail());
    },
    end: (graceMs) => (ending ??= end(child, graceMs)),
  };
}

/** Shows every line to the peer. The conversation is over when the process is gone and all it wrote was read. */
async function readAll(child: RunningProcess, peer: JsonRpcPeer): Promise<void> {
  for await (const line of child.lines()) peer.receive(line);
  await child.settled;
  peer.close('the agent ended');
}

async function end(child: RunningProcess, graceMs: number): Promise<void> {
  const startedAt = performance.now();
  child.stdin.end();
  await within(Math.min(LEAVE_MS, graceMs / 2), child.exited);
  await child.stop(Math.max(1, graceMs - (performance.now() - startedAt)));
}

function describeEnd(exit: ProcessExit | null, stderr: string): string {
  const how =
    exit === null
      ? 'the agent does not listen any more'
      : exit.signal === null
        ? `the agent ended with exit code ${exit.code}`
        : `the agent was ended by ${exit.signal}`;
  const words = stderr.trim().slice(-LAST_WORDS_LENGTH).trim();
  return words === '' ? `${how} and said nothing on its error output` : `${how}: ${words}`;
}

const LAST_WORDS_LENGTH = 1_500;

/** Waits for the work, but no longer than this. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  await Promise.race([work, delay(ms, undefined, { signal: timer.signal }).catch(() => {})]);
  timer.abort();
}
