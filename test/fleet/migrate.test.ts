import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

let postgres: TestPostgres;
let playground: Playground;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.remove());
beforeEach(async () => {
  playground = await createPlayground({ patienceMs: 30_000 });
});
afterEach(() => playground.cleanup());

const issue = (n: number, state = 'todo') => ({ id: String(n), identifier: `A-${n}`, title: `Übung \u0000 ${n}`, state });
const states = async () => (await playground.readIssues()).map(({ state }) => state);

it('moves the records once, compared on both sides, and the service goes on with them', async () => {
  const url = await postgres.createDatabase();
  const env = { DATABASE_URL: url };
  await playground.writeIssues([issue(1), issue(2)]);
  await playground.write('WORKFLOW.md', fileWorkflow());
  const before = await playground.start(['--port', '0']);
  await eventually(states, (found) => found.every((state) => state === 'review'));
  const running = await playground.run(['migrate', '--to', '$DATABASE_URL'], { env });
  expect(running.code).toBe(1);
  expect(running.stderr).toContain('is in use by a running foray');
  await before.stop();
  const runs = JSON.parse((await playground.run(['logs', 'A-1', '--format', 'json'])).stdout) as unknown;

  const moved = await playground.run(['migrate', '--to', '$DATABASE_URL', '--format', 'json'], { env });
  expect(moved).toMatchObject({ code: 0, stderr: '' });
  const { tables } = JSON.parse(moved.stdout) as { tables: { table: string; rows: number; digest: string }[] };
  expect(tables.find(({ table }) => table === 'runs')).toMatchObject({
    rows: 2,
    digest: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
  });
  const again = await playground.run(['migrate', '--to', '$DATABASE_URL'], { env });
  expect(again).toMatchObject({ code: 1 });
  expect(again.stderr).toContain('has records already');

  await playground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL' }));
  const read = await playground.run(['logs', 'A-1', '--format', 'json'], { env });
  expect(JSON.parse(read.stdout)).toEqual(runs);
  const after = await playground.start(['--port', '0'], { env });
  await playground.writeIssues([issue(1, 'review'), issue(2, 'review'), issue(3)]);
  await eventually(states, (found) => found.every((state) => state === 'review'));
  const status = JSON.parse((await playground.run(['status', '--format', 'json'], { env })).stdout) as { service: unknown };
  expect(status.service).toMatchObject({ running: true, pid: after.pid });
  await after.stop();
});

it('asks the leader through the database, and decides alone where none leads', async () => {
  const env = { DATABASE_URL: await postgres.createDatabase() };
  await playground.writeIssues([]);
  await playground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL' }));
  expect((await playground.run(['resume'], { env })).stderr).toContain('nothing to act on before the first start');
  const daemon = await playground.start(['--port', '0'], { env });
  const paused = await playground.run(['pause', '--reason', 'lunch'], { env });
  expect(paused).toMatchObject({ code: 0, stdout: expect.stringContaining('the running service') as unknown });
  await daemon.stop();
  const resumed = await playground.run(['resume'], { env });
  expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining('no service is running') as unknown });
  const killed = await playground.start(['--port', '0'], { env });
  killed.signal('SIGKILL');
  await killed.exited;
  const again = await playground.run(['pause'], { env });
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('no service is running') as unknown });
});

it('needs no more than a role of its own, and says what is missing', async () => {
  const url = await postgres.createDatabase();
  const name = new URL(url).pathname.slice(1);
  await postgres.query(`CREATE ROLE small LOGIN PASSWORD 'pw-small'; GRANT CONNECT ON DATABASE ${name} TO small`);
  const env = { DATABASE_URL: url.replace('postgres@', 'small:pw-small@') };
  await playground.writeIssues([]);
  await playground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL' }));
  const refused = await playground.run([], { env });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('lacks a right');
  expect(refused.stderr).not.toContain('pw-small');
  await postgres.query('CREATE SCHEMA foray AUTHORIZATION small', url);
  const daemon = await playground.start(['--port', '0'], { env });
  expect((await daemon.get('/readyz')).status).toBe(200);
  await daemon.stop();

  // The queue of the workers has a schema of its own, made once.
  await playground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL', agent: 'kind: mock\nrun_on: []' }));
  const without = await playground.run([], { env });
  expect(without.code).toBe(1);
  expect(without.stderr).toMatch(/lacks a right .*with agent\.run_on it makes one for the queue/);
  await postgres.query(`GRANT CREATE ON DATABASE ${name} TO small`);
  const queue = await playground.start(['--port', '0'], { env });
  await queue.stop();
  await postgres.query(`REVOKE CREATE ON DATABASE ${name} FROM small`);
  const later = await playground.start(['--port', '0'], { env });
  expect(await later.json('/readyz')).toMatchObject({ checks: { database: 'pass' } });
  await later.stop();
});
