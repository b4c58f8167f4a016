import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { childProcess } from '../child-process.ts';
import { within } from '../within.ts';
import { createExcerpt } from './excerpt.ts';
import { createGroup } from './kill.ts';
import type { ProcessGroup } from './kill.ts';
import { readLines } from './lines.ts';
import { createOutput } from './output.ts';
import type { Output } from './output.ts';

export interface ProcessOptions {
  /** A program on the PATH of `env`, or a path. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** The user it runs as; the daemon's own unless given. Whoever starts it must be allowed to. */
  readonly user?: { readonly uid: number; readonly gid: number } | null;
  /** `ignore` unless given. */
  readonly stdin?: 'pipe' | 'ignore';
  /** The longest line that is kept whole; 10 MiB unless given. */
  readonly maxLineBytes?: number;
  /** How long what the leader left behind may go on printing; 2 s unless given. */
  readonly drainMs?: number;
  /** Called before anything else happens, so that a crash can find the process. */
  readonly onSpawn?: (pid: number) => void;
  readonly onStderr?: (chunk: Buffer) => void;
}

/** A child in a process group of its own. */
export interface RunningProcess {
  /** Also the id of the group. */
  readonly pid: number;
  readonly stdin: ProcessInput;
  /**
   * The lines of its standard output, at the reader's pace: a child that prints more is held up, nothing piles up here.
   * To be called once and at once. Ends with the output, or a bounded time after the child.
   */
  lines(): AsyncGenerator<string, void, void>;
  /** The same as it comes; either this or `lines`. */
  chunks(): AsyncGenerator<Buffer, void, void>;
  /** The beginning and the end of its standard error so far. Complete once `settled`. */
  stderrTail(): string;
  /** The leader is gone. What it started may still be there. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** The leader is gone, its standard error is read and everything it left in its group was ended. Never rejects. */
  readonly settled: Promise<ProcessExit>;
  /** Sends the whole group a signal, once. */
  signal(name: NodeJS.Signals): void;
  /** Asks the whole group to end, kills it after the grace, and waits for it. Safe to repeat. */
  stop(graceMs: number, signal?: NodeJS.Signals): Promise<void>;
  /** Kills the whole group and waits for it. Safe to repeat, also while it is being stopped. */
  kill(): Promise<void>;
}

export interface ProcessInput {
  /** Resolves when the text was handed over: false when the process does not read any more. Never rejects. */
  write(text: string): Promise<boolean>;
  end(): void;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export type StartFailure = 'not_found' | 'not_executable' | 'no_directory' | 'failed';

/** A program that could not be started at all. */
export class ProcessStartError extends Error {
  readonly failure: StartFailure;

  constructor(failure: StartFailure, message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'ProcessStartError';
    this.failure = failure;
  }
}

const MAX_LINE_BYTES = 10 * 1024 * 1024;
const DRAIN_MS = 2_000;
/** What outlives its leader gets little time: it belongs to work that is over. */
const LEFTOVER_GRACE_MS = 500;
const STDERR_SIZE = { headBytes: 16 * 1024, tailBytes: 48 * 1024 };

/** Starts a program in its own process group, so that everything it starts can be ended with it. */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const child = spawnGroup(options);
  if (child.pid === undefined) throw startError(await startFailureOf(child), options);
  // A failed kill is reported here too; the group is watched otherwise.
  child.on('error', () => {});
  const running = watch(child.pid, child, options);
  try {
    options.onSpawn?.(child.pid);
  } catch (error) {
    // A process that nobody knows of must not live.
    await running.kill();
    throw error;
  }
  return running;
}

function spawnGroup({ command, args, cwd, env, user, stdin = 'ignore' }: ProcessOptions): ChildProcess {
  const options: SpawnOptions = {
    cwd,
    env: { ...env },
    detached: true,
    stdio: [stdin, 'pipe', 'pipe'],
    windowsHide: true,
    // With these the system also takes the further groups of this process away from the child.
    ...(user ? { uid: user.uid, gid: user.gid } : {}),
  };
  try {
    return childProcess().spawn(command, [...args], options);
  } catch (error) {
    throw startError(error, { command, cwd });
  }
}

async function startFailureOf(child: ChildProcess): Promise<unknown> {
  const [error] = (await once(child, 'error')) as [unknown];
  return error;
}

function startError(error: unknown, { command, cwd }: Pick<ProcessOptions, 'command' | 'cwd'>): ProcessStartError {
  const { code, message } = error as NodeJS.ErrnoException;
  // The system names a missing directory and a missing program alike.
  if (code === 'ENOENT' && !existsSync(cwd)) {
    return new ProcessStartError('no_directory', `cannot start ${command}: the directory ${cwd} does not exist`, error);
  }
  if (code === 'ENOENT') {
    // A path that is not absolute is meant from the directory it is started in.
    const where = command.includes('/') && !path.isAbsolute(command) ? ` in ${cwd}` : '';
    return new ProcessStartError('not_found', `cannot start ${command}: no such program${where}`, error);
  }
  if (code === 'EACCES') {
    return new ProcessStartError('not_executable', `cannot start ${command}: it is not executable, or not by this user`, error);
  }
  return new ProcessStartError('failed', `cannot start ${command}: ${message}`, error);
}

function watch(pid: number, child: ChildProcess, options: ProcessOptions): RunningProcess {
  const group = createGroup(pid);
  const stdout = createOutput(child.stdout as Readable);
  const errors = collectErrors(child.stderr as Readable, options.onStderr);
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const settled = settle({ group, stdout, errors, exited, drainMs: options.drainMs ?? DRAIN_MS });

  async function end(graceMs: number, signal?: NodeJS.Signals): Promise<void> {
    if (await group.end({ graceMs, signal })) await settled;
  }

  return {
    pid,
    stdin: inputOf(child.stdin),
    lines: () => readLines(stdout.chunks(), options.maxLineBytes ?? MAX_LINE_BYTES),
    chunks: () => stdout.chunks(),
    stderrTail: () => errors.text(),
    exited,
    settled,
    signal: (name) => group.send(name),
    stop: end,
    kill: () => end(0),
  };
}

interface Errors {
  text(): string;
  readonly closed: Promise<void>;
  destroy(): void;
}

/** Standard error is always read, so that nobody blocks on it, and kept in part. */
function collectErrors(stream: Readable, onChunk?: (chunk: Buffer) => void): Errors {
  const excerpt = createExcerpt(STDERR_SIZE);
  stream.on('data', (chunk: Buffer) => {
    excerpt.add(chunk);
    onChunk?.(chunk);
  });
  const closed = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) stream.on(event, () => resolve());
  });
  return { text: () => excerpt.text(), closed, destroy: () => stream.destroy() };
}

interface Settling {
  readonly group: ProcessGroup;
  readonly stdout: Output;
  readonly errors: Errors;
  readonly exited: Promise<ProcessExit>;
  readonly drainMs: number;
}

/** A process that outlives its leader may hold the pipes for ever: it gets a bounded time, then it is ended. */
async function settle({ group, stdout, errors, exited, drainMs }: Settling): Promise<ProcessExit> {
  const exit = await exited;
  if (!group.isEmpty()) await within(drainMs, Promise.all([stdout.closed, errors.closed]));
  await group.end({ graceMs: LEFTOVER_GRACE_MS });
  // Who left the group as well can only be cut off.
  await within(drainMs, errors.closed);
  errors.destroy();
  stdout.writerGone();
  return exit;
}

/** A dead child's input fails with EPIPE: that is an answer, not a crash. */
function inputOf(stream: Writable | null): ProcessInput {
  stream?.on('error', () => {});
  return {
    write(text) {
      if (stream === null || !stream.writable) return Promise.resolve(false);
      return new Promise((resolve) => {
        // Node reports a write as done when the stream was destroyed under it.
        stream.write(text, (error) => resolve(!error && !stream.destroyed));
      });
    },
    end() {
      stream?.end();
    },
  };
}
