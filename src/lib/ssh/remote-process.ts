import { createExcerpt } from '../process/excerpt.ts';
import { ProcessStartError, startProcess } from '../process/spawn.ts';
import type { ProcessExit, ProcessOptions, RunningProcess, StartFailure } from '../process/spawn.ts';
import { within } from '../within.ts';
import { BOOTSTRAP, dataFrames, firstLine, SIGN } from './far-side.ts';

export interface SshTarget {
  /** As OpenSSH knows it: a name of its configuration, or `user@host`. */
  readonly host: string;
  /** What the SSH client itself sees of our environment. */
  readonly env: Readonly<Record<string, string>>;
  /** `NAME` of the variable by which processes that left their group are found. */
  readonly markVariable: string;
  /** How long the far side goes on without a word of ours: whoever takes over waits longer than this. */
  readonly patienceMs: number;
}

/**
 * Whatever the user's own configuration says: nobody is asked anything, an unknown or changed host key is refused, and
 * nothing of this machine is lent to the other one.
 */
const OPTIONS = [
  '-T',
  '-o', 'BatchMode=yes',
  '-o', 'StrictHostKeyChecking=yes',
  '-o', 'ConnectTimeout=10',
  '-o', 'ServerAliveInterval=15',
  '-o', 'ServerAliveCountMax=3',
  '-o', 'ForwardAgent=no',
  '-o', 'ForwardX11=no',
  '-o', 'ClearAllForwardings=yes',
  '-o', 'PermitLocalCommand=no',
  '-o', 'LogLevel=ERROR',
] as const; // prettier-ignore

const STDERR_SIZE = { headBytes: 16 * 1024, tailBytes: 48 * 1024 };
const LAST_WORDS = 400;
/** How long the far side may take over ending what it was told to end, before the connection is cut. */
const CUT_AFTER_MS = 2_000;
/** The near side says so many times within the patience of the far side that it is still there. */
const BEATS = 4;
/** What lost its connection is told to end and has so long for it. */
export const BROKEN_ENDS_MS = 5_000;

/** A host that could not be reached or worked with. */
export class HostError extends ProcessStartError {
  readonly host: string;

  constructor(host: string, message: string) {
    super('failed', message, undefined);
    this.name = 'HostError';
    this.host = host;
  }
}

/** Starts a program on another host as `startProcess` does on this one. Whatever is secret goes through standard input. */
export async function startRemote(target: SshTarget, options: ProcessOptions): Promise<RunningProcess> {
  const { patienceMs } = target;
  const stderr = readErrors(options.onStderr);
  const child = await startProcess({
    ...options,
    command: 'ssh',
    args: [...OPTIONS, '--', target.host, BOOTSTRAP],
    cwd: '/',
    env: target.env,
    user: null,
    stdin: 'pipe',
    onStderr: stderr.add,
  });
  const mark = options.env[target.markVariable];
  const marker = mark === undefined ? '' : `${target.markVariable}=${mark}`;
  void child.stdin.write(firstLine({ ...options, marker, graceMs: BROKEN_ENDS_MS, patienceMs }));
  const answer = await Promise.race([stderr.answered, child.settled.then(() => null)]);
  if (answer !== 'started') {
    await child.kill();
    throw startError(answer ?? stderr.answer(), target.host, options, stderr.text());
  }
  if ((options.stdin ?? 'ignore') === 'ignore') void child.stdin.write('e\n');
  return wrap(child, stderr, { host: target.host, beatMs: patienceMs / BEATS });
}

function wrap(child: RunningProcess, stderr: FarErrors, { host, beatMs }: { host: string; beatMs: number }): RunningProcess {
  const beat = setInterval(() => void child.stdin.write('k\n'), beatMs).unref();
  const exited = child.exited.then(async (exit) => {
    clearInterval(beat);
    // What the far side said last may still be on its way through our own pipe.
    await Promise.race([stderr.ended, child.settled]);
    return exitOf(stderr, exit, host);
  });
  const signal = (name: NodeJS.Signals): void => void child.stdin.write(`s${name.replace(/^SIG/, '')}\n`);
  const end = async (graceMs: number, name?: NodeJS.Signals): Promise<void> => {
    if (graceMs > 0) {
      signal(name ?? 'SIGTERM');
      await within(graceMs, child.exited);
    }
    signal('SIGKILL');
    child.stdin.end();
    await within(CUT_AFTER_MS, child.exited);
    await child.kill();
  };
  return {
    pid: child.pid,
    stdin: { write: (text) => child.stdin.write(dataFrames(text)), end: () => void child.stdin.write('e\n') },
    lines: child.lines,
    chunks: child.chunks,
    stderrTail: stderr.text,
    exited,
    settled: child.settled.then(() => exited),
    signal,
    stop: end,
    kill: () => end(0),
  };
}

/** What the far side said of the end; without a word of it the connection broke. */
function exitOf(stderr: FarErrors, exit: ProcessExit, host: string): ProcessExit {
  const code = stderr.exitCode();
  if (code === null) {
    stderr.note(`the connection to ${host} ended before the program did`);
    return { code: exit.code ?? 255, signal: null };
  }
  return { code, signal: null };
}

const FAILURES: Readonly<Record<string, StartFailure>> = { directory: 'no_directory', program: 'not_found' };

function startError(answer: string, host: string, { command, cwd }: ProcessOptions, said: string): ProcessStartError {
  const why = answer.replace(/^failed /, '');
  const failure = FAILURES[why];
  if (failure === 'no_directory') {
    return new ProcessStartError(failure, `cannot start ${command} on ${host}: no directory ${cwd} there`, undefined);
  }
  if (failure === 'not_found') {
    return new ProcessStartError(failure, `cannot start ${command} on ${host}: no such program there`, undefined);
  }
  if (why === 'group')
    return new HostError(host, `cannot work on ${host}: its SSH server gives commands no session of their own`);
  const words = said.replace(/\s+/g, ' ').trim().slice(-LAST_WORDS);
  return new HostError(host, `cannot work on ${host} over ssh: ${words === '' ? 'the connection was closed' : words}`);
}

interface FarErrors {
  readonly add: (chunk: Buffer) => void;
  /** The first word of the far side. */
  readonly answered: Promise<string>;
  answer(): string;
  /** Settles when the far side said how the program ended. */
  readonly ended: Promise<void>;
  exitCode(): number | null;
  note(text: string): void;
  text(): string;
}

/** Standard error carries our own lines beside those of the program. */
function readErrors(onStderr?: (chunk: Buffer) => void): FarErrors {
  const excerpt = createExcerpt(STDERR_SIZE);
  let answer = '';
  let code: number | null = null;
  let rest = '';
  let [answerWith, endWith] = [(_word: string): void => {}, (): void => {}];
  const answered = new Promise<string>((resolve) => (answerWith = resolve));
  const ended = new Promise<void>((resolve) => (endWith = resolve));

  function take(word: string): void {
    if (answer === '') answerWith((answer = word));
    const found = /^exit (\d+)$/.exec(word);
    if (found === null) return;
    code = Number(found[1]);
    endWith();
  }

  function pass(text: string): void {
    // After the program nobody speaks but shells that tell of their end.
    if (text === '' || code !== null) return;
    const chunk = Buffer.from(text, 'latin1');
    excerpt.add(chunk);
    onStderr?.(chunk);
  }

  return {
    answered,
    ended,
    answer: () => answer,
    exitCode: () => code,
    note: (text) => excerpt.add(Buffer.from(`\n${text}\n`)),
    text: () => excerpt.text(),
    add(chunk) {
      rest += chunk.toString('latin1');
      for (let at = rest.indexOf(SIGN); at >= 0; at = rest.indexOf(SIGN)) {
        const end = rest.indexOf('\n', at);
        if (end < 0) return;
        pass(rest.slice(0, at));
        take(rest.slice(at + SIGN.length, end));
        rest = rest.slice(end + 1);
      }
      // A sign may be cut in two.
      const keep = rest.includes('\u001e') ? rest.slice(rest.lastIndexOf('\u001e')) : '';
      const kept = keep.length < SIGN.length ? keep : '';
      pass(rest.slice(0, rest.length - kept.length));
      rest = kept;
    },
  };
}
