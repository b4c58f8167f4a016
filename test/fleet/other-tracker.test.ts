import { hostname } from 'node:os';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { runHere } from '../support/command.ts';
import { createPlayground, eventually, fileWorkflow, type Playground, type RunningDaemon } from '../support/daemon.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

const WARNING = 'standing by for a leader that watches another tracker, nobody watches that of this workflow file';
const ISSUE = { id: '1', identifier: 'A-1', title: 'One', state: 'todo' };

let postgres: TestPostgres;
let ours: Playground;
let theirs: Playground;
let own: string;
let other: string;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.remove());
beforeEach(async () => {
  [ours, theirs] = await Promise.all([createPlayground(), createPlayground()]);
  env = { DATABASE_URL: await postgres.createDatabase() };
  own = await ours.write('WORKFLOW.md', workflowOn(ours.path('issues.json')));
  other = await theirs.write('WORKFLOW.md', workflowOn(theirs.path('issues.json')));
  await ours.writeIssues([ISSUE]);
  await theirs.writeIssues([{ ...ISSUE, identifier: 'B-1' }]);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all([ours.cleanup(), theirs.cleanup()]);
});

const workflowOn = (board: string) =>
  fileWorkflow({ store: 'url: $DATABASE_URL', mock: 'outcomes: [hang]', file: `path: ${board}` });
/** A command takes the address out of the environment once it has read it. */
const command = (...argv: readonly string[]) => {
  vi.stubEnv('DATABASE_URL', env['DATABASE_URL']);
  return runHere(...argv);
};
const warningsOf = (daemon: RunningDaemon) => daemon.records().filter(({ msg }) => msg === WARNING);

it('a service of another tracker, and its commands, say that nobody watches it and who leads', async () => {
  const leader = await ours.start(['--port', '0'], { env });
  await leader.record('turn started');
  const standby = await theirs.start(['--port', '0'], { env });
  expect(await standby.record(WARNING)).toMatchObject({
    level: 'WARN',
    workflow_path: other,
    tracker: expect.stringContaining(theirs.path('issues.json')) as unknown,
    leader_host: hostname(),
    leader_pid: String(leader.pid),
    leader_workflow_path: own,
    leader_tracker: expect.stringContaining(ours.path('issues.json')) as unknown,
  });

  const whose = `the service of ${own} on ${hostname()} uses this database, nothing watches this file`;
  expect((await command('status', other)).stdout).toContain(`service: not running; ${whose}\n`);
  expect(JSON.parse((await command('status', other, '--format', 'json')).stdout)).toMatchObject({
    service: { running: false, database_used_by: { workflow_path: own } },
  });
  const explained = await command('explain', 'B-1', other);
  expect(explained).toMatchObject({ code: 1, stderr: `service: not running; ${whose}\n` });
  expect(explained.stdout).toContain('B-1 (todo): not_watched');
  const examined = await command('doctor', other);
  expect(examined.code).toBe(1);
  expect(examined.stdout).toContain('a service of this file would stand by while nobody watches its tracker');
  expect(examined.stdout).toContain('set store.url in this file to a database of its own');
  expect((await command('pause', other)).stdout).toContain(`(the running service of ${own} on ${hostname()})`);
  const paused = await standby.get('/api/v2/pause', { method: 'POST' });
  expect(((await paused.json()) as { message: string }).message).toContain(`(the running service of ${own} on ${hostname()})`);
  expect((await command('resume', own)).stdout).toContain('(the running service)');
  expect((await command('status', own)).stdout).toMatch(/^service: running/);
  // A plan is held against the service of the file in force, also where the new one has another tracker or a database of its own.
  const local = await ours.write('LOCAL.md', fileWorkflow({ mock: 'outcomes: [hang]' }));
  for (const next of [local, other]) expect((await command('plan', next, own)).stderr, next).toMatch(/^service: running/);
  expect(warningsOf(standby)).toHaveLength(1);

  // An edit of the leader's file counts from the moment on that it is in force.
  await ours.write('WORKFLOW.md', workflowOn(theirs.path('issues.json')));
  await leader.record('workflow reloaded');
  await eventually(
    async () => (await command('status', other)).stdout,
    (said) => said.startsWith('service: running'),
    'the tracker of the edit to be watched',
  );
  await Promise.all([leader.stop(), standby.stop()]);
});

it('a service of the same tracker with a file in another place is an ordinary standby, until an edit names another', async () => {
  other = await theirs.write('WORKFLOW.md', workflowOn(ours.path('issues.json')));
  const leader = await ours.start(['--port', '0'], { env });
  await leader.record('turn started');
  const standby = await theirs.start(['--port', '0'], { env });
  expect((await command('status', other)).stdout).toMatch(/^service: running/);
  expect((await command('explain', 'A-1', other)).code).toBe(0);

  // It is warned of an edit that names another one.
  await theirs.write('WORKFLOW.md', workflowOn(theirs.path('issues.json')));
  await standby.record(WARNING);
  expect(warningsOf(standby).map((warning) => warning['tracker'])).toEqual([expect.stringContaining(theirs.path('issues.json'))]);
  leader.signal('SIGKILL');
  await standby.record('leading');
  await eventually(
    async () => (await command('explain', 'B-1', other)).code,
    (code) => code === 0,
    'the issue of the one that took over',
  );
  await standby.stop();
});
