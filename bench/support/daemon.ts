import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { newFolder } from './folders.ts';

const ROOT = process.env['FORAY_BENCH_ROOT'] ?? process.cwd();
/** The built command. */
export const CLI = path.join(ROOT, 'dist', 'cli.js');

/** A program of this shape: how it is started on a workflow file. */
export interface Program {
  readonly name: string;
  readonly command: readonly string[];
}

export const FORAY: Program = { name: 'foray', command: [process.execPath, CLI] };

export interface Daemon {
  readonly pid: number;
  readonly url: string;
  readonly directory: string;
  /** Milliseconds from the start of the command to the moment the log held the text so many times. */
  until(text: string, times?: number): Promise<number>;
  /** How often the log holds it. */
  count(text: string): number;
  log(): string;
  /** Ends it; its folder stays. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** A folder with these files. */
export async function makeFolder(files: Readonly<Record<string, string>>, root?: string): Promise<string> {
  const directory = await newFolder(root);
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(directory, name), text);
  return directory;
}

/** Starts the program on the folder's WORKFLOW.md and waits until it serves. */
export async function launch(
  directory: string,
  options: { program?: Program; env?: Record<string, string> } = {},
): Promise<Daemon> {
  const [command = '', ...args] = (options.program ?? FORAY).command;
  const begin = performance.now();
  const child = spawn(command, [...args, '--port', '0', 'WORKFLOW.md'], {
    cwd: directory,
    env: { ...process.env, HOME: directory, ...options.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const log = watchLog(child, begin);
  await log.until('http server listening');
  const url = /url=(\S+?)\/?(?:\s|$)/.exec(log.text())?.[1] ?? '';
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const stop = async (signal: NodeJS.Signals = 'SIGINT') => {
    child.kill(signal);
    await exited;
  };
  return {
    pid: child.pid ?? 0,
    url,
    directory,
    until: log.until,
    count: log.count,
    log: log.text,
    stop,
  };
}

function watchLog(child: ChildProcess, begin: number) {
  let text = '';
  const wanted = new Map<string, number>();
  const waiting = new Set<() => void>();
  const counted = new Map<string, { count: number; from: number }>();
  /** Goes on where it stopped, so that a long log is read once. */
  function count(needle: string): number {
    const seen = counted.get(needle) ?? { count: 0, from: 0 };
    for (let at = text.indexOf(needle, seen.from); at !== -1; at = text.indexOf(needle, seen.from)) {
      seen.count += 1;
      seen.from = at + needle.length;
    }
    counted.set(needle, seen);
    return seen.count;
  }
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    for (const look of waiting) look();
  });
  const until = (needle: string, times = 1): Promise<number> =>
    new Promise((resolve, reject) => {
      wanted.set(needle, times);
      const look = (): void => {
        if (count(needle) < times) return;
        waiting.delete(look);
        resolve(performance.now() - begin);
      };
      waiting.add(look);
      child.once('exit', () => reject(new Error(`the program ended early:\n${text.slice(-2_000)}`)));
      look();
    });
  return { until, count, text: () => text };
}

/** Processor time of a process so far, in milliseconds. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // Fields 14 and 15, in ticks of a hundredth of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export function residentKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? Number.NaN);
}

/** Milliseconds that a command takes from start to exit. */
export async function commandMs(command: readonly string[], cwd: string): Promise<number> {
  const [program = '', ...args] = command;
  const begin = performance.now();
  const child = spawn(program, args, { cwd, stdio: 'ignore' });
  await new Promise((resolve) => child.once('exit', resolve));
  return performance.now() - begin;
}

export interface WorkflowParts {
  readonly tracker?: string;
  readonly file?: string;
  readonly intervalMs?: number;
  readonly agent?: string;
  readonly mock?: string;
  readonly more?: string;
}

/** A workflow over local issues with the mock agent. */
export function workflow({
  tracker,
  file = 'issues.json',
  intervalMs = 30_000,
  agent = '',
  mock = '',
  more = '',
}: WorkflowParts): string {
  const front = [
    tracker ??
      `tracker:\n  kind: file\n  active_states: [todo]\n  terminal_states: [done]\n  handoff_state: review\nfile:\n  path: ${file}`,
    `polling:\n  interval_ms: ${intervalMs}`,
    'workspace:\n  root: ws',
    `agent:\n  kind: mock\n  max_turns: 1\n${agent}`,
    mock === '' ? '' : `mock:\n${mock}`,
    more,
  ];
  return `---\n${front.filter((part) => part !== '').join('\n')}\n---\nWork.\n`;
}

export function issues(size: number, state = 'todo'): Record<string, unknown>[] {
  return Array.from({ length: size }, (_, index) => ({
    id: `${index + 1}`,
    identifier: `B-${index + 1}`,
    title: `Issue ${index + 1}`,
    state,
    description: 'Lorem ipsum. '.repeat(20),
  }));
}
