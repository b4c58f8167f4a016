import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { CLI, createPlayground, fileWorkflow, TOOL_PATH } from '../support/daemon.ts';
import type { TestPostgres } from '../support/postgres.ts';
import { openHost, type Host, type HostKind } from './hosts.ts';

export type Role = 'leader' | 'worker';

/** Two daemons and two workers, each on a host of its own with its own way to the database, and one issue. */
export interface Crew {
  path(...parts: string[]): string;
  /** Starts the one that something happens to, and waits until it leads or is known. */
  start(role: Role, env: Readonly<Record<string, string>>): Promise<void>;
  /** Starts those that take over: a second daemon and a second worker. */
  startOthers(): Promise<void>;
  /** Resolves when the process is so. */
  comesTo(role: Role, state: 'dead' | 'stopped'): Promise<boolean>;
  restartDatabase(): Promise<void>;
  cutFor(role: Role, ms: number): void;
  wake(role: Role): void;
  /** The issue was handed off and its comment written. */
  done(): Promise<void>;
  /** What is wrong at the end: something lost, or done twice. */
  faults(): Promise<readonly string[]>;
  /** What each of them said. */
  log(): string;
  close(): Promise<void>;
}

const PATIENCE_MS = 150_000;
const RESTART_MS = 1_000;
const ISSUE = { id: '1', identifier: 'A-1', title: 'First', state: 'todo' };

const NAMES = ['leader', 'worker', 'standby', 'second worker'] as const;
type Name = (typeof NAMES)[number];

export async function openCrew(postgres: TestPostgres, crashing: string, kind: HostKind): Promise<Crew> {
  const ground = await createPlayground();
  const url = await postgres.createDatabase();
  const hosts = new Map<Name, Host>();
  for (const name of NAMES) hosts.set(name, await openHost(kind, postgres.port));
  const hostOf = (name: Name): Host => hosts.get(name)!;
  const healing: Promise<void>[] = [];
  let isClosing = false;
  const children = new Map<Name, ChildProcess>();
  const said = new Map<Name, string>();
  const tracker =
    'kind: file\nactive_states: [todo]\nterminal_states: [done]\nhandoff_state: review\ncomments: { on_completion: true }';
  await ground.write(
    'WORKFLOW.md',
    fileWorkflow({
      tracker,
      agent: 'kind: mock\nmax_turns: 2\nmax_retry_backoff_ms: 200\nrun_on: []',
      mock: 'turn_delay_ms: 300',
      store: 'url: $FLEET_DB',
    }),
  );
  await ground.writeIssues([ISSUE]);

  function launch(name: Name, cli: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
    const child = hostOf(name).start([cli, ...args], {
      cwd: ground.dir,
      env: { PATH: TOOL_PATH, HOME: ground.dir, FLEET_DB: hostOf(name).through(url), ...env },
    });
    children.set(name, child);
    // One that fails is started again, as whatever keeps services running does.
    child.once('exit', (code) => code === 1 && !isClosing && setTimeout(() => launch(name, cli, args, env), RESTART_MS).unref());
    child.stderr.on('data', (chunk: Buffer) => said.set(name, `${said.get(name) ?? ''}${chunk.toString()}`));
  }
  const workerArgs = (name: string): readonly string[] => [
    'worker',
    '--url',
    '$FLEET_DB',
    '--name',
    name,
    '--root',
    ground.path(name),
  ];
  const hears = (name: Name, text: string): Promise<void> =>
    until(`${name} to say ${text}`, () => said.get(name)?.includes(text) === true || isOut());

  /** One of them was killed or stopped: the others may wait for it. */
  const isOut = (): boolean => [...children].some(([name, { signalCode }]) => signalCode === 'SIGKILL' || isStopped(name));

  function isStopped(name: Name): boolean {
    const pid = children.get(name)?.pid;
    if (pid === undefined || children.get(name)?.signalCode !== null) return false;
    try {
      return /\) T/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  }

  async function issue(): Promise<Record<string, unknown>> {
    return (await ground.readIssues())[0] ?? {};
  }
  const commentsOf = (one: Record<string, unknown>): readonly unknown[] => (one['comments'] as unknown[] | undefined) ?? [];

  return {
    path: ground.path,
    async start(role, env) {
      if (role === 'worker') launch('worker', crashing, workerArgs('w1'), env);
      else launch('leader', crashing, ['WORKFLOW.md'], env);
      await hears(role, role === 'worker' ? 'foray worker started' : 'msg=leading');
    },
    async startOthers() {
      launch('standby', CLI, ['WORKFLOW.md']);
      launch('second worker', CLI, workerArgs('w2'));
    },
    async comesTo(role, state) {
      const isSo = (): boolean => (state === 'dead' ? children.get(role)?.signalCode === 'SIGKILL' : isStopped(role));
      await until(`${role} to be ${state}`, isSo);
      return true;
    },
    async restartDatabase() {
      await postgres.stop('crash');
      await postgres.start();
    },
    cutFor(role, ms) {
      hostOf(role).cut();
      healing.push(delay(ms).then(() => hostOf(role).heal()));
    },
    wake: (role) => void children.get(role)?.kill('SIGCONT'),
    done: () =>
      until('the handoff', async () => {
        const one = await issue();
        return one['state'] === 'review' && commentsOf(one).length > 0;
      }),
    async faults() {
      await Promise.all(healing);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const one = await issue();
      const runs = await postgres.query("SELECT id FROM foray.runs WHERE status = 'succeeded'", url);
      const left = await postgres.query('SELECT issue_id FROM foray.claims', url);
      return [
        ...(one['state'] === 'review' ? [] : [`the issue ended as ${String(one['state'])}`]),
        ...(commentsOf(one).length === 1 ? [] : [`${commentsOf(one).length} comments`]),
        ...(runs.length === 1 ? [] : [`${runs.length} runs succeeded`]),
        ...(left.length === 0 ? [] : ['it is still claimed']),
      ];
    },
    log: () => [...said].map(([name, text]) => `--- ${name}\n${text}`).join('\n'),
    async close() {
      isClosing = true;
      for (const child of children.values()) {
        child.kill('SIGCONT');
        child.kill('SIGKILL');
      }
      await Promise.all(healing);
      await Promise.all([...hosts.values()].map((host) => host.close()));
      await ground.cleanup();
    },
  };
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`${what} did not come true`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
