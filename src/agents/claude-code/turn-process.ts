import { setTimeout as delay } from 'node:timers/promises';
import { startProcess, type ProcessOptions, type RunningProcess } from '../../lib/process/index.ts';
import type { Ending } from './judge.ts';
import type { Reader } from './reader.ts';

export interface TurnProcess {
  readonly start: Pick<ProcessOptions, 'command' | 'args' | 'cwd' | 'env' | 'onSpawn'>;
  readonly prompt: string;
  readonly reader: Reader;
  readonly onEnd: (pid: number) => void;
  readonly patience: Patience;
}

export interface Patience {
  /** How long an interrupted process may take to leave by itself before the whole group is ended. */
  readonly interruptMs: number;
  readonly stopGraceMs: number;
  /** How long a process may stay silent after its result. */
  readonly lingerMs: number;
}

/** The longest line that is read; a longer one is left out. */
const MAX_LINE_BYTES = 1024 * 1024;
/** Only the agent itself says anything we need: what it left behind gets little time to print. */
const DRAIN_MS = 500;
/** For the output that is still under way when its process is gone. */
const LAST_LINES_MS = 1_000;

/** Runs one process to its end and shows its output to the reader. Aborting ends it; rejects only when it cannot start. */
export async function runTurnProcess(turn: TurnProcess, signal: AbortSignal): Promise<Ending> {
  const child = await startProcess({ ...turn.start, stdin: 'pipe', maxLineBytes: MAX_LINE_BYTES, drainMs: DRAIN_MS });
  void child.settled.then(() => turn.onEnd(child.pid));
  // Not waited for: a process that does not read would hold us up.
  void child.stdin.write(turn.prompt).then(() => child.stdin.end());
  const over = new AbortController();
  try {
    const ended = readToEnd(child, turn).then(() => child.settled);
    const exit = await Promise.race([ended, endOnAbort(child, turn.patience, signal, over.signal)]);
    return { code: exit?.code ?? null, signal: exit === null ? 'SIGKILL' : exit.signal, stderr: child.stderrTail() };
  } catch (error) {
    await child.kill();
    throw error;
  } finally {
    over.abort();
  }
}

/** Background work of the agent may keep it alive after its result, even for ever: silence ends it. */
async function readToEnd(child: RunningProcess, { reader, patience }: TurnProcess): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  for await (const line of child.lines()) {
    reader.accept(line);
    clearTimeout(timer);
    if (reader.hasResult()) timer = setTimeout(() => void child.stop(patience.stopGraceMs), patience.lingerMs).unref();
  }
  clearTimeout(timer);
}

/** Settles only after an abort, with null, when the process is gone or given up. */
async function endOnAbort(child: RunningProcess, patience: Patience, signal: AbortSignal, over: AbortSignal): Promise<null> {
  if (!signal.aborted) await aborted(signal, over);
  await interrupt(child, patience.interruptMs);
  await child.stop(Math.max(patience.stopGraceMs - patience.interruptMs, 1));
  await delay(LAST_LINES_MS, undefined, { signal: over, ref: false }).catch(() => {});
  return null;
}

function aborted(signal: AbortSignal, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true, signal: over }));
}

/** Only when interrupted it ends the commands it runs, and still reports what it spent. */
async function interrupt(child: RunningProcess, patienceMs: number): Promise<void> {
  const gone = await Promise.race([child.exited.then(() => true), Promise.resolve(false)]);
  if (gone) return;
  try {
    process.kill(-child.pid, 'SIGINT');
  } catch {
    return;
  }
  const timer = new AbortController();
  await Promise.race([child.exited, delay(patienceMs, undefined, { signal: timer.signal }).catch(() => {})]);
  timer.abort();
}
