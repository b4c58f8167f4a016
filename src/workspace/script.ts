import { setTimeout as delay } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import type { Cut } from '../lib/http/index.ts';
import { PROXY_VARIABLES } from '../lib/http/proxy.ts';
import { createExcerpt, environmentOf, startProcess } from '../lib/process/index.ts';
import type { ProgramUser, RunningProcess } from '../lib/process/index.ts';
import type { ProcessLedger } from '../ports/agent.ts';
import type { ProcessHost } from '../ports/process.ts';
import { errorText } from '../lib/error-text.ts';

export interface ScriptDeps {
  /** The daemon's environment, of which scripts see SCRIPT_ENVIRONMENT only. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whom scripts run as, where it is not the daemon's own user. */
  readonly user?: ProgramUser | null;
  readonly processes: ProcessLedger;
  /** Where scripts run; on this machine unless given. */
  readonly host?: Pick<ProcessHost, 'start'>;
  maskSecrets(text: string, cut?: Cut): string;
}

export interface Script {
  readonly text: string;
  readonly cwd: string;
  /** Variables besides the inherited ones. */
  readonly variables: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** The setting that holds the timeout, for the message. */
  readonly timeoutKey: string;
  /** Who the processes belong to, for the ledger. */
  readonly owner: string;
}

export interface ScriptOutcome {
  /** Null when it succeeded. */
  readonly failure: string | null;
  /** The end of what it printed, on both outputs, with secrets masked. */
  readonly output: string;
}

/** What scripts see of the daemon's environment: enough for shells, git and ssh, and no credential. */
export const SCRIPT_ENVIRONMENT = [
  'PATH',
  'HOME',
  'SHELL',
  'TMPDIR',
  'USER',
  'LOGNAME',
  'TERM',
  'LANG',
  'LC_ALL',
  'SSH_AUTH_SOCK',
  'GIT_SSH_COMMAND',
  'GIT_SSL_CAINFO',
  'NODE_EXTRA_CA_CERTS',
  ...PROXY_VARIABLES,
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'FORAY_DAEMON',
  'FORAY_LEADER',
  'FORAY_WORKER',
] as const;

/**
 * The script writes into a pipe, as in a terminal session: Node gives children sockets, and `> /dev/stderr` fails on
 * those. Its status comes on the outer standard error. `cat` outlives a polite signal, so that a script's own trap can
 * still print. It begins when it is told to: by then its processes are recorded, and grouped where that is possible.
 */
const WRAPPER = `read -r go; exec < /dev/null; { sh -c "$1" 3>&-; echo "status=$?" >&3; } 3>&2 2>&1 | { trap '' TERM INT HUP; exec cat; }`;

const SHOWN_CHARACTERS = 8 * 1024;
/** More is kept than shown: masking makes it shorter. */
const KEPT_BYTES = 2 * SHOWN_CHARACTERS;
const GRACE_MS = 1_000;
const DRAIN_MS = 250;
/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Runs a script by `sh -c` in a process group of its own, and ends the group whatever became of the script. */
export async function runScript(script: Script, deps: ScriptDeps, signal: AbortSignal): Promise<ScriptOutcome> {
  if (signal.aborted) return { failure: 'stopped before it began', output: '' };
  const status = createStatusReader();
  let child: RunningProcess;
  try {
    child = await (deps.host?.start ?? startProcess)({
      command: 'sh',
      args: ['-c', WRAPPER, 'sh', script.text],
      cwd: script.cwd,
      env: { ...scriptEnvironment(deps), ...script.variables },
      user: deps.user,
      stdin: 'pipe',
      drainMs: DRAIN_MS,
      onSpawn: (pid) => deps.processes.started(pid, script.owner),
      onStderr: (chunk) => status.add(chunk),
    });
  } catch (error) {
    return { failure: errorText(error), output: '' };
  }
  void child.stdin.write('\n');
  child.stdin.end();
  const output = collect(child, deps);
  const failure = await firstOf(child, status, script, signal);
  await child.stop(GRACE_MS);
  deps.processes.ended(child.pid);
  return { failure, output: await output };
}

function scriptEnvironment({ env, user }: ScriptDeps): Record<string, string> {
  return user ? environmentOf(user, inherited(env)) : inherited(env);
}

function inherited(env: ScriptDeps['env']): Record<string, string> {
  const known = SCRIPT_ENVIRONMENT.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(known);
}

/** Success, failure, timeout and abort race; the first to come is what happened. */
async function firstOf(child: RunningProcess, status: StatusReader, script: Script, signal: AbortSignal): Promise<string | null> {
  const timers = new AbortController();
  const { promise: aborted, resolve: abort } = promiseOf<string>();
  const onAbort = (): void => abort('stopped before it finished');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const overdue = `timed out after ${script.timeoutMs} ms, see ${script.timeoutKey}`;
  const timeout = delay(Math.min(script.timeoutMs, LONGEST_TIMER_MS), overdue, { signal: timers.signal });
  const ended = child.settled.then((exit) => describeExit(status.value(), exit.signal));
  const finished = status.arrived.then(async (code) => {
    // Usually all ends together; a process in the background may go on and hold the output.
    await Promise.race([child.settled, delay(DRAIN_MS, null, { signal: timers.signal }).catch(() => null)]);
    return describeExit(code, null);
  });
  try {
    return await Promise.race([finished, ended, timeout, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    timers.abort();
    timeout.catch(() => {});
  }
}

function describeExit(code: number | null, signal: string | null): string | null {
  if (code === 0) return null;
  return code === null ? `was ended from outside (${signal ?? 'its shell is gone'})` : `exit status ${code}`;
}

interface StatusReader {
  add(chunk: Buffer): void;
  value(): number | null;
  readonly arrived: Promise<number>;
}

/** Waits for the line that the wrapper writes when the script is over. */
function createStatusReader(): StatusReader {
  const { promise: arrived, resolve } = promiseOf<number>();
  let text = '';
  let value: number | null = null;
  return {
    arrived,
    value: () => value,
    add(chunk) {
      text = `${text}${chunk.toString('latin1')}`.slice(-1_024);
      const found = /status=(\d+)\n/.exec(text);
      if (found === null) return;
      value = Number(found[1]);
      resolve(value);
    },
  };
}

async function collect(child: RunningProcess, { maskSecrets }: ScriptDeps): Promise<string> {
  const excerpt = createExcerpt({ headBytes: 0, tailBytes: KEPT_BYTES });
  for await (const chunk of child.chunks()) excerpt.add(chunk);
  // A colour inside of a secret would hide it.
  const masked = excerpt.text((piece, cut) => maskSecrets(stripVTControlCharacters(piece), cut));
  return masked.trim().slice(-SHOWN_CHARACTERS);
}

function promiseOf<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
