import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { WorkspaceError } from '../domain/model/errors.ts';
import { childProcess } from '../lib/child-process.ts';
import { createExcerpt, endStrays } from '../lib/process/index.ts';
import { within } from '../lib/within.ts';

/** One call of git. */
export interface GitCommand {
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Whom it runs as, where it is not the daemon's own user: a repository may name programs that git runs. */
  readonly user?: { readonly uid: number; readonly gid: number } | null;
  /** Handed to the askpass helper over descriptor 3, which nothing else reads; null where git may not log in. */
  readonly password?: string | null;
  /** For its standard input; none unless given. */
  readonly input?: string;
  readonly timeoutMs: number;
  /** Told of the process, so that a crash can find it. */
  readonly onSpawn?: (pid: number) => void;
  readonly onExit?: (pid: number) => void;
}

export interface GitResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Enough for some hundred thousand commits, branches or files. */
const OUTPUT = { headBytes: 32 * 1024 * 1024, tailBytes: 64 * 1024 };
const ERRORS = { headBytes: 8 * 1024, tailBytes: 24 * 1024 };

/** For git to take its locks away when it is asked to end. */
const GRACE_MS = 2_000;
/** How long what git left behind may hold its pipes. */
const DRAIN_MS = 2_000;
/** What outlives git gets little time: it belongs to work that is over. */
const STRAY_GRACE_MS = 500;
/** What a program is found by that a setting had git start, and that left the group. */
const CALL_VARIABLE = 'FORAY_GIT_CALL';

/** Runs git in a process group of its own and waits for it. A timeout or an abort ends the group; both reject. */
export async function runGit(command: GitCommand, signal: AbortSignal): Promise<GitResult> {
  signal.throwIfAborted();
  const call = randomUUID();
  const child = childProcess().spawn('git', [...command.args], {
    cwd: command.cwd,
    env: { ...command.env, [CALL_VARIABLE]: call },
    detached: true,
    ...(command.user ? { uid: command.user.uid, gid: command.user.gid } : {}),
    stdio: [command.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', 'pipe'],
  });
  const failed = once(child, 'error').then(([error]) => Promise.reject(startErrorOf(error)));
  failed.catch(() => {});
  if (child.pid === undefined) return failed;
  const { pid } = child;
  command.onSpawn?.(pid);
  handOver(child.stdio[3], command.password ?? null);
  child.stdin?.on('error', () => {}).end(command.input);
  const stdout = collect(child.stdout, OUTPUT);
  const stderr = collect(child.stderr, ERRORS);
  const closed = once(child, 'close');
  closed.catch(() => {});
  const timers: NodeJS.Timeout[] = [];
  const end = (): void => {
    killGroup(pid, 'SIGTERM');
    timers.push(setTimeout(() => killGroup(pid, 'SIGKILL'), GRACE_MS));
  };
  let isLate = false;
  const expire = (): void => {
    isLate = true;
    end();
  };
  timers.push(setTimeout(expire, command.timeoutMs));
  signal.addEventListener('abort', end, { once: true });
  try {
    const [code, by] = (await Promise.race([once(child, 'exit'), failed])) as [number | null, string | null];
    if (!(await within(DRAIN_MS, closed))) await letGo(child, call);
    signal.throwIfAborted();
    if (code === null || (isLate && code !== 0)) throw endedError(command, isLate ? null : by);
    return { code, stdout: stdout(), stderr: stderr() };
  } finally {
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener('abort', end);
    killGroup(pid, 'SIGKILL');
    command.onExit?.(pid);
  }
}

/** Whoever still holds the pipes left the group: who is found is ended, and anybody else is cut off. */
async function letGo(child: ChildProcess, call: string): Promise<void> {
  await endStrays(`${CALL_VARIABLE}=${call}`, STRAY_GRACE_MS);
  for (const stream of child.stdio) stream?.destroy();
}

/** The password goes through a pipe and never stands in an environment or an argument list. */
function handOver(pipe: unknown, password: string | null): void {
  const writable = pipe as NodeJS.WritableStream;
  writable.on('error', () => {});
  writable.end(password === null ? '' : `${password}\n`);
}

function collect(stream: NodeJS.ReadableStream | null, size: { headBytes: number; tailBytes: number }): () => string {
  const excerpt = createExcerpt(size);
  stream?.on('data', (chunk: Buffer) => excerpt.add(chunk));
  return () => excerpt.text();
}

function killGroup(pid: number, by: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, by);
  } catch {
    // Nothing of the group is left.
  }
}

/** What git was asked to do. */
export function subcommandOf(args: readonly string[]): string {
  return args.find((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-c') ?? '';
}

/** By a signal that somebody else sent, or for want of time. */
function endedError({ args, cwd, timeoutMs }: GitCommand, by: string | null): WorkspaceError {
  const remedy = 'see that the disk and the remote answer, and that no pipe stands there where git reads a file';
  const what = by === null ? `did not end within ${timeoutMs / 1_000} s: ${remedy}` : `was ended by ${by}`;
  return new WorkspaceError('git', `git ${subcommandOf(args)} in ${cwd} ${what}`, { retryable: true });
}

function startErrorOf(error: unknown): WorkspaceError {
  const { code, message } = error as NodeJS.ErrnoException;
  const detail = code === 'ENOENT' ? 'git is not installed, or not on the PATH: install it' : message;
  return new WorkspaceError('git', detail, { retryable: false, cause: error });
}
