import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The built command, as a user would call it. */
export const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
/** Faults and fleets are walked for long, on a machine that has more to do: only a fault is waited for as long as this. */
const PATIENCE_MS = process.env['FORAY_FAULTS'] === 'full' || process.env['FORAY_FLEET'] !== undefined ? 60_000 : 30_000;

/** One parsed log record: attributes by name, `msg` and `level` included. */
export type LogRecord = Readonly<Record<string, string>>;

export interface Playground {
  readonly dir: string;
  path(...parts: string[]): string;
  write(name: string, content: string): Promise<string>;
  read(name: string): Promise<string>;
  writeIssues(issues: readonly Record<string, unknown>[]): Promise<void>;
  readIssues(): Promise<Record<string, unknown>[]>;
  /** Runs the command to its end. */
  run(args: readonly string[], options?: RunOptions): Promise<Finished>;
  /** Starts the daemon on WORKFLOW.md. */
  start(args?: readonly string[], options?: RunOptions): Promise<RunningDaemon>;
  cleanup(): Promise<void>;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Wait until this record was written; by default until the HTTP server listens where a port was asked for. */
  readonly until?: string;
  /** Another build of the command than that of the playground. */
  readonly cli?: string;
}

export interface Finished {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly records: readonly LogRecord[];
}

export interface RunningDaemon {
  readonly pid: number;
  /** Of the HTTP server, without a slash at the end. */
  readonly url: string;
  records(): readonly LogRecord[];
  stderr(): string;
  /** Waits for a record, from the beginning of the log. */
  record(msg: string, match?: Readonly<Record<string, string>>): Promise<LogRecord>;
  get(route: string, init?: RequestInit): Promise<Response>;
  json(route: string): Promise<Record<string, unknown>>;
  signal(name: NodeJS.Signals): void;
  readonly exited: Promise<Finished>;
  /** Interrupts and waits for the end. */
  stop(): Promise<Finished>;
}

/** A folder of its own with a daemon to play with. Everything it starts is ended by cleanup. */
export async function createPlayground({ patienceMs = PATIENCE_MS, cli = CLI } = {}): Promise<Playground> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'foray-e2e-'));
  const children = new Set<ChildProcess>();
  const at = (...parts: string[]): string => path.join(dir, ...parts);

  function launch(args: readonly string[], options: RunOptions): Launched {
    const child = spawn(process.execPath, [options.cli ?? cli, ...args], {
      cwd: dir,
      env: { ...BASE_ENV, HOME: dir, ...options.env },
    });
    children.add(child);
    child.once('exit', () => children.delete(child));
    return collect(child, patienceMs);
  }

  return {
    dir,
    path: at,
    async write(name, content) {
      await writeFile(at(name), content);
      return at(name);
    },
    read: (name) => readFile(at(name), 'utf8'),
    writeIssues: (issues) => writeFile(at('issues.json'), JSON.stringify(issues, null, 2)),
    readIssues: async () => JSON.parse(await readFile(at('issues.json'), 'utf8')) as Record<string, unknown>[],
    run: (args, options = {}) => launch(args, options).exited,
    async start(args = ['--port', '0'], options = {}) {
      const launched = launch([...args, 'WORKFLOW.md'], options);
      const wanted = options.until ?? (args.includes('--port') ? 'http server listening' : 'foray starting');
      const first = await Promise.race([launched.record(wanted), launched.exited]);
      if ('code' in first && 'stderr' in first) throw new Error(`the daemon ended early (${first.code}):\n${first.stderr}`);
      const listening = launched.records().find((entry) => entry['msg'] === 'http server listening');
      return running(launched, (listening?.['url'] ?? '').replace(/\/$/, ''));
    },
    async cleanup() {
      for (const child of children) child.kill('SIGKILL');
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** With stand-ins for what scripts need besides git and a shell. */
export const TOOL_PATH = `${fileURLToPath(new URL('bin', import.meta.url))}:${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;

/** Only what a shell would have: no variable of the test runner reaches the daemon. */
const BASE_ENV = { PATH: TOOL_PATH, TMPDIR: os.tmpdir(), LANG: 'C.UTF-8' };

interface Launched {
  readonly child: ChildProcess;
  readonly exited: Promise<Finished>;
  records(): readonly LogRecord[];
  stderr(): string;
  record(msg: string, match?: Readonly<Record<string, string>>): Promise<LogRecord>;
}

function collect(child: ChildProcess, patienceMs: number): Launched {
  let stdout = '';
  let stderr = '';
  const log = createLogReader();
  const waiting = new Set<() => void>();
  const wake = (): void => waiting.forEach((look) => look());
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
    log.read(chunk);
    wake();
  });
  const exited = new Promise<Finished>((resolve) => {
    child.once('close', (code, signal) => {
      resolve({ code, signal, stdout, stderr, records: parseRecords(stderr) });
      wake();
    });
  });
  return {
    child,
    exited,
    records: () => [...log.records],
    stderr: () => stderr,
    record(msg, match = {}) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => finish(null), patienceMs);
        const look = (): void => {
          const found = log.records.find(
            (entry) => entry['msg'] === msg && Object.entries(match).every(([key, value]) => entry[key] === value),
          );
          if (found) finish(found);
          else if (child.exitCode !== null && child.stderr?.readableEnded) finish(null);
        };
        function finish(found: LogRecord | null): void {
          clearTimeout(timer);
          waiting.delete(look);
          if (found) resolve(found);
          else reject(new Error(`no record "${msg}" ${JSON.stringify(match)} in:\n${stderr}`));
        }
        waiting.add(look);
        look();
      });
    },
  };
}

function running(launched: Launched, url: string): RunningDaemon {
  const get = (route: string, init?: RequestInit): Promise<Response> => fetch(`${url}${route}`, init);
  return {
    ...launched,
    pid: launched.child.pid ?? 0,
    url,
    get,
    json: async (route) => (await (await get(route)).json()) as Record<string, unknown>,
    signal: (name) => launched.child.kill(name),
    async stop() {
      launched.child.kill('SIGINT');
      return launched.exited;
    },
  };
}

/** Reads a log as it grows: every line once. */
function createLogReader(): { readonly records: readonly LogRecord[]; read(text: string): void } {
  const records: LogRecord[] = [];
  let begun = '';
  return {
    records,
    read(text) {
      const end = text.lastIndexOf('\n') + 1;
      if (end > 0) records.push(...parseRecords(begun + text.slice(0, end)));
      begun = end > 0 ? text.slice(end) : begun + text;
    },
  };
}

/** Reads `key=value` lines, values quoted where they need it. */
export function parseRecords(text: string): readonly LogRecord[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('level='))
    .map((line) => {
      const pairs = [...line.matchAll(/([A-Za-z0-9_.-]+)=("(?:[^"\\]|\\.)*"|\S*)/g)];
      return Object.fromEntries(
        pairs.map(([, key = '', value = '']) => [key, value.startsWith('"') ? (JSON.parse(value) as string) : value]),
      );
    });
}

/** Often enough to lose no time, and seldom enough that what is looked at has time to come true. */
const LOOK_AGAIN_MS = 50;

/** Looks again until it holds. */
export async function eventually<T>(look: () => Promise<T> | T, holds: (value: T) => boolean, what = 'it'): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const value = await look();
    if (holds(value)) return value;
    if (Date.now() > deadline) throw new Error(`${what} did not come true; last seen: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

/** A port of the loopback address that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A workflow over `issues.json` with the mock agent; further front matter may be added or replaced by section. */
export function fileWorkflow(sections: Readonly<Record<string, string>> = {}, body = 'Work on {{ .issue.identifier }}.'): string {
  const all: Record<string, string> = {
    tracker: 'kind: file\nactive_states: [todo, in progress]\nterminal_states: [done]\nhandoff_state: review',
    file: 'path: issues.json',
    polling: 'interval_ms: 100',
    workspace: 'root: ws',
    agent: 'kind: mock\nmax_turns: 2',
    ...sections,
  };
  return workflowText(all, body);
}

/** A workflow file of these sections, each given without its indentation. */
export function workflowText(sections: Readonly<Record<string, string>>, body = 'Work on {{ .issue.identifier }}.'): string {
  const matter = Object.entries(sections).map(([name, lines]) => `${name}:\n${lines.replaceAll(/^/gm, '  ')}`);
  return `---\n${matter.join('\n')}\n---\n${body}\n`;
}
