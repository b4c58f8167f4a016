import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { hostname } from 'node:os';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CLI, createPlayground, eventually, fileWorkflow, parseRecords, TOOL_PATH, type Playground } from '../support/daemon.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

/** A container as far as a process can tell: the same name of the host in each, and each process is number 1 in its own. */
const CONTAINER = ['--pid', '--fork', '--mount-proc', '--kill-child'];

const refusal = refusalOfContainers();
if (refusal !== null) console.log(`containers are not tried: ${refusal}`);

let postgres: TestPostgres;
let ground: Playground;
const children: ChildProcess[] = [];
beforeAll(async () => {
  if (refusal === null) postgres = await startPostgres();
});
afterAll(() => postgres?.remove());
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await ground.cleanup();
});

/** Starts the command in a container of its own; gives what it says. */
function start(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn('unshare', [...CONTAINER, process.execPath, CLI, ...args], {
    cwd: ground.dir,
    env: { PATH: TOOL_PATH, HOME: ground.dir, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  children.push(child);
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const says = (what: RegExp): Promise<unknown> =>
    eventually(
      async () => text,
      (said) => what.test(said),
      String(what),
    );
  return { says, log: () => text, kill: () => child.kill('SIGKILL') };
}

describe.skipIf(refusal !== null)('daemons and workers in containers whose hosts have one name', () => {
  it(
    'are told apart, each with what it holds, and the leader is not taken for a process of one’s own',
    { timeout: 120_000 },
    async () => {
      ground = await createPlayground({ patienceMs: 60_000 });
      const url = await postgres.createDatabase();
      const env = { FLEET_DB: url };
      const agent = 'kind: mock\nmax_turns: 1\nrun_on: []';
      await ground.write(
        'WORKFLOW.md',
        fileWorkflow({ agent, mock: 'turn_delay_ms: 1500', store: 'url: $FLEET_DB', polling: 'interval_ms: 500' }),
      );
      await ground.writeIssues([]);
      const leader = start(['--port', '0', 'WORKFLOW.md'], env);
      await leader.says(/msg=leading/);
      await leader.says(/msg="http server listening"/);
      for (const name of ['r1', 'r2']) start(['worker', '--url', '$FLEET_DB', '--root', ground.path(name)], env);
      const at = parseRecords(leader.log()).find(({ msg }) => msg === 'http server listening')?.['url'] ?? '';
      await eventually(
        async () => (await (await fetch(new URL('/api/v2/workers', at))).json()) as { workers: unknown[] },
        ({ workers }) => workers.length === 2,
        'both workers to be known',
      );
      await ground.writeIssues(['1', '2'].map((id) => ({ id, identifier: `A-${id}`, title: id, state: 'todo' })));
      await eventually(
        () => ground.readIssues(),
        (issues) => issues.every(({ state }) => state === 'review'),
        'both handoffs',
      );
      const known = await postgres.query('SELECT name, identity FROM foray.worker_hosts ORDER BY name', url);
      expect(known.map(({ name }) => String(name).split('#')[0])).toEqual([hostname(), hostname()]);
      expect(new Set(known.map(({ name }) => name)).size).toBe(2);
      const used = await postgres.query('SELECT DISTINCT workspace_path FROM foray.runs', url);
      for (const { identity } of known)
        expect(used.some((row) => String(row['workspace_path']).includes(String(identity)))).toBe(true);

      const standby = start(['--port', '0', 'WORKFLOW.md'], env);
      await standby.says(/msg="standing by"/);
      const daemons = await postgres.query('SELECT host, pid::integer, machine FROM foray.instances', url);
      expect(daemons.map(({ host, pid }) => [host, pid])).toEqual([
        [hostname(), 1],
        [hostname(), 1],
      ]);
      expect(new Set(daemons.map(({ machine }) => machine)).size).toBe(2);
      leader.kill();
      await standby.says(/msg=leading.* resume_delay_ms=(3|4)\d{4}\b/);
    },
  );
});

function refusalOfContainers(): string | null {
  if (process.platform !== 'linux') return 'they are there on Linux only';
  const { status, stderr, error } = spawnSync('unshare', [...CONTAINER, 'true'], { encoding: 'utf8' });
  return status === 0 ? null : (error?.message ?? stderr.trim());
}
