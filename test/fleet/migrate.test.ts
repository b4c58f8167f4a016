import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';
import { isAlive } from '../support/processes.ts';
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
  await postgres.query("CREATE ROLE stranger LOGIN PASSWORD 'pw-stranger'");
  const worker = ['worker', '--url', '$DATABASE_URL', '--root', playground.path('w')];
  const stranger = await playground.run(worker, { env: { DATABASE_URL: url.replace('postgres@', 'stranger:pw-stranger@') } });
  expect(stranger).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/lacks rights for a worker .* more\): .*workers\.md/) as unknown,
  });
  const noFolder = await playground.run([...worker.slice(0, 4), playground.path('WORKFLOW.md')], { env });
  expect(noFolder).toMatchObject({ code: 1, stderr: expect.stringMatching(/--root .*WORKFLOW\.md cannot be used/) as unknown });
  await postgres.query(`REVOKE CREATE ON DATABASE ${name} FROM small`);
  const later = await playground.start(['--port', '0'], { env });
  expect(await later.json('/readyz')).toMatchObject({ checks: { database: 'pass' } });
  await later.stop();
});

it('ends what a service that was killed left running before its records are moved', async () => {
  const env = { DATABASE_URL: await postgres.createDatabase() };
  await playground.writeIssues([issue(1)]);
  const hooks = `before_run: "echo $$ > ${playground.path('pid')}; exec sleep 300"\ntimeout_ms: 400000`;
  await playground.write('WORKFLOW.md', fileWorkflow({ hooks }));
  const killed = await playground.start(['--port', '0']);
  const text = await eventually(
    () => playground.read('pid').catch(() => ''),
    (found) => found.trim() !== '',
    'the hook',
  );
  killed.signal('SIGKILL');
  await killed.exited;
  expect(isAlive(Number(text))).toBe(true);
  const moved = await playground.run(['migrate', '--to', '$DATABASE_URL'], { env });
  expect(moved).toMatchObject({ code: 0, records: [{ msg: 'ending a process that an earlier run left behind' }] });
  expect(isAlive(Number(text))).toBe(false);
});

it('waits for one that is gone without leave, and refuses one that leads', async () => {
  const url = await postgres.createDatabase();
  const env = { DATABASE_URL: url };
  await playground.writeIssues([]);
  await playground.write('WORKFLOW.md', fileWorkflow());
  await (await playground.start(['--port', '0'])).stop();
  await playground.run(['migrate', '--to', '$DATABASE_URL'], { env });
  const emptied = ['notes', 'trackers', 'tracker_names'].map((table) => `DELETE FROM foray.${table};`).join('');
  const now = '(extract(epoch FROM clock_timestamp()) * 1000)';
  await postgres.query(`SET foray.epoch = '1'; ${emptied} UPDATE foray.leader SET left_at = NULL, renewed_at = ${now}`, url);
  expect(await playground.run(['migrate', '--to', '$DATABASE_URL'], { env })).toMatchObject({ code: 0, stderr: '' });

  await playground.write('OTHER.md', fileWorkflow({ store: 'url: $DATABASE_URL' }));
  await playground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL' }));
  const leader = await playground.start(['--port', '0'], { env });
  const refused = await playground.run(['migrate', 'OTHER.md'], { env });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is in use by a running foray') as unknown });
  await leader.stop();
});

it('refuses an address that cannot be one, and files and servers that cannot give TLS, at once and without its password', async () => {
  const url = (await postgres.createDatabase()).replace('postgres@', 'postgres:s3cret@');
  await playground.writeIssues([]);
  await playground.write('WORKFLOW.md', fileWorkflow());
  await (await playground.start(['--port', '0'])).stop();
  const cases: readonly (readonly [string, number, RegExp])[] = [
    ['', 2, /must not be empty: \$DATABASE_URL is not set/],
    ['postgres://app:s3cret#1@127.0.0.1/x', 2, /must be the address .*%23/],
    ['http://app:s3cret@127.0.0.1/x', 2, /must be the address of a PostgreSQL database/],
    [`${url}?sslmode=nonsense`, 2, /sslmode must be one of disable, .*verify-full/],
    [`${url}?sslmode=require`, 1, /does not offer TLS .*check sslmode and sslrootcert in its address/],
    [`${url}?sslmode=verify-full&sslrootcert=/nope.pem`, 1, /a file that its address names cannot be read .*\/nope\.pem/],
  ];
  for (const [address, code, words] of cases) {
    const env: Record<string, string> = address === '' ? {} : { DATABASE_URL: address };
    for (const args of [
      ['migrate', '--to', '$DATABASE_URL'],
      ['worker', '--url', '$DATABASE_URL', '--root', playground.path('w')],
    ]) {
      const refused = await playground.run(args, { env });
      expect(refused, args[0]).toMatchObject({ code, stderr: expect.stringMatching(words) as unknown });
      expect(refused.stderr, args[0]).not.toMatch(/s3cret|SECURITY WARNING|StoreError/);
    }
  }
});
