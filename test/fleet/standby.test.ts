import { hostname } from 'node:os';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildCrashing } from '../faults/crashing-command.ts';
import { createPlayground, eventually, fileWorkflow, freePort, workflowText, type Playground } from '../support/daemon.ts';
import { json, startServer, text } from '../support/http-server.ts';
import { isAlive } from '../support/processes.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { openLink } from './link.ts';

let postgres: TestPostgres;
let playground: Playground;
let url: string;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.remove());
beforeEach(async () => {
  playground = await createPlayground({ patienceMs: 50_000 });
  url = await postgres.createDatabase();
});
afterEach(() => playground.cleanup());

const issue = (n: number) => ({ id: String(n), identifier: `A-${n}`, title: `Issue ${n}`, state: 'todo' });

/** Two daemons on one database and one board. */
async function startBoth(agent = 'kind: mock\nmax_turns: 2') {
  await playground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL', agent }));
  const options = { env: { DATABASE_URL: url } };
  const first = await playground.start(['--port', '0'], options);
  const second = await playground.start(['--port', '0'], options);
  return { first, second };
}

const stateOf = async (n: number) => (await playground.readIssues()).find(({ id }) => id === String(n))?.['state'];
const becomes = (n: number, state: string) =>
  eventually(
    () => stateOf(n),
    (found) => found === state,
    `issue ${n} in ${state}`,
  );

it('a service that is short of connections waits for them, says so, and leads when there are enough', async () => {
  await playground.writeIssues([issue(1)]);
  await playground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL', agent: 'kind: mock\nrun_on: []' }));
  await postgres.query('CREATE ROLE few LOGIN CONNECTION LIMIT 2');
  await postgres.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO few`);
  const service = await playground.start(['--port', '0'], { env: { DATABASE_URL: url.replace('postgres@', 'few@') } });
  const { reason } = await service.record('no longer leading, standing by');
  expect(reason).toContain('has no connection left (too many connections for role "few"): raise max_connections');
  await postgres.query('ALTER ROLE few CONNECTION LIMIT -1');
  await eventually(
    () => service.json('/readyz').catch(() => ({})),
    (ready: Record<string, unknown>) => ready['role'] === 'leader',
    'the service to lead',
  );
  expect((await service.stop()).code).toBe(0);
});

it('works one issue once with two daemons, and the other takes over when the leader is killed', async () => {
  await playground.writeIssues([issue(1)]);
  const { first, second } = await startBoth();
  await becomes(1, 'review');
  await second.record('http server listening');
  expect((await second.json('/readyz'))['role']).toBe('standby');
  expect(await second.json('/readyz')).toMatchObject({ leader: { pid: first.pid } });
  expect(await first.json('/readyz')).toMatchObject({
    role: 'leader',
    status: 'pass',
    leader: { pid: first.pid, url: expect.stringContaining(first.url) as unknown },
  });
  const sinceOf = async ({ json }: typeof first) => ((await json('/readyz'))['leader'] as { since: string }).since;
  expect(await sinceOf(second)).toBe(await sinceOf(first));
  const page = (await (await second.get('/')).text()).replaceAll(/<[^>]*>/g, '');
  expect(page).toContain('Standing by');
  expect(page).toContain(`${hostname()} (process ${first.pid}) leads`);
  const runs = (await second.json('/api/v2/runs'))['runs'] as { issue_identifier: string }[];
  expect(runs.map((run) => run.issue_identifier)).toEqual(['A-1']);

  const killedAt = Date.now();
  first.signal('SIGKILL');
  await second.record('leading');
  expect(Date.now() - killedAt).toBeLessThan(10_000);
  const roleThere = (): Promise<unknown> =>
    second.json('/readyz').then(
      ({ role }) => role,
      () => null,
    );
  await eventually(roleThere, (role) => role === 'leader', 'the pages of the new leader, where those of the standby were');
  await playground.writeIssues([{ ...issue(1), state: 'review' }, issue(2)]);
  await becomes(2, 'review');
  const found = await postgres.query('SELECT identifier, status FROM foray.runs ORDER BY rowid', url);
  expect(found).toEqual([
    { identifier: 'A-1', status: 'succeeded' },
    { identifier: 'A-2', status: 'succeeded' },
  ]);
  await second.stop();
});

it('an edit of the token holds for leader and standby, and for the one that takes over', async () => {
  const write = (token: string): Promise<string> =>
    playground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL', server: `token: ${token}` }));
  const statusAt = async (at: string, token: string): Promise<number> =>
    (await fetch(new URL('/api/v2/runs', at), { headers: { authorization: `Bearer ${token}` } })).status;
  await playground.writeIssues([]);
  await write('the-old-token');
  const options = { env: { DATABASE_URL: url } };
  const first = await playground.start(['--port', '0'], options);
  const second = await playground.start(['--port', '0'], options);
  await write('the-new-token');
  for (const daemon of [first, second]) {
    await eventually(
      () => statusAt(daemon.url, 'the-new-token'),
      (status) => status === 200,
      'the new token',
    );
    expect(await statusAt(daemon.url, 'the-old-token')).toBe(401);
  }
  first.signal('SIGKILL');
  await second.record('leading');
  const served = await eventually(
    () => second.records().filter(({ msg }) => msg === 'http server listening')[1]?.['url'],
    (at) => at !== undefined,
    'the pages of the leader',
  );
  expect(await statusAt(served ?? '', 'the-old-token')).toBe(401);
  expect(await statusAt(served ?? '', 'the-new-token')).toBe(200);
  await second.stop();
});

it('one that takes over works by the last good edit, also when the file is broken by then', async () => {
  const write = (state: string, agent = 'kind: mock') =>
    playground.write(
      'WORKFLOW.md',
      fileWorkflow({
        store: 'url: $DATABASE_URL',
        agent,
        tracker: `kind: file\nactive_states: [todo]\nterminal_states: [done]\nhandoff_state: ${state}`,
      }),
    );
  await playground.writeIssues([]);
  await write('review');
  const options = { env: { DATABASE_URL: url } };
  const first = await playground.start(['--port', '0'], options);
  const second = await playground.start(['--port', '0'], options);
  const appliedAt = async (): Promise<unknown> => (await second.json('/api/v2/workflow'))['applied_at'];
  const before = await appliedAt();
  await write('checking');
  await first.record('workflow reloaded');
  await eventually(appliedAt, (at) => at !== before, 'the edit on the standby');
  await write('elsewhere', 'kind: [');
  await second.record('workflow edit rejected, the last good one stays in force');
  first.signal('SIGKILL');
  await second.record('leading');
  await playground.writeIssues([issue(1)]);
  await becomes(1, 'checking');
  await second.stop();
});

it('one that takes over leaves out an edit that only the tracker refuses, and says why', async (test) => {
  const shop = { id: 7, full_name: 'acme/shop', private: true, has_issues: true, permissions: { push: true } };
  const tracker = await startServer(({ headers, path }) => {
    if (!(headers['authorization'] ?? '').includes('token-of-somebody')) return json({ message: 'Bad credentials' }, 401);
    return json(path.endsWith('/repos/acme/shop') ? shop : []);
  });
  test.onTestFinished(() => tracker.close());
  const write = (token: string) =>
    playground.write(
      'WORKFLOW.md',
      workflowText({
        tracker: `kind: github\nproject: acme/shop\nendpoint: ${tracker.url}\napi_key: $${token}\nactive_states: [todo]`,
        agent: 'kind: mock',
        polling: 'interval_ms: 500',
        store: 'url: $DATABASE_URL',
      }),
    );
  await write('GITHUB_TOKEN');
  const options = { env: { DATABASE_URL: url, GITHUB_TOKEN: 'token-of-somebody', OTHER_TOKEN: 'token-of-nobody' } };
  const first = await playground.start(['--port', '0'], options);
  await first.record('tick completed');
  const second = await playground.start(['--port', '0'], options);
  await write('OTHER_TOKEN');
  const refused = 'workflow edit rejected, the last good one stays in force';
  await first.record(refused);
  first.signal('SIGKILL');
  await second.record(refused);
  await second.record('tick completed');
  expect((await second.json('/readyz'))['workflow_error']).toContain('Bad credentials');
  await second.stop();
});

it('says that it is alive and not ready while it waits for the server at its start', async (test) => {
  await playground.writeIssues([issue(1)]);
  await playground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL' }));
  const link = await openLink(postgres.port);
  test.onTestFinished(() => link.close());
  link.cut();
  const daemon = await playground.start(['--port', '0'], { env: { DATABASE_URL: link.through(url) } });
  await daemon.record('waiting for the database');
  expect((await daemon.get('/livez')).status).toBe(200);
  const ready = await daemon.get('/readyz');
  expect([ready.status, await ready.json()]).toMatchObject([503, { checks: { database: 'fail' } }]);
  link.heal();
  await becomes(1, 'review');
  await daemon.stop();
});

it('one whose port is taken leads all the same, and serves its pages when the port is free', async () => {
  await playground.writeIssues([]);
  await playground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL' }));
  const options = { env: { DATABASE_URL: url } };
  const port = String(await freePort());
  const first = await playground.start(['--port', port], options);
  await first.record('http server listening');
  const second = await playground.start(['--port', port], { ...options, until: 'standing by without pages' });
  first.signal('SIGSTOP');
  await second.record('leading without pages');
  await playground.writeIssues([issue(1)]);
  await becomes(1, 'review');
  first.signal('SIGKILL');
  await second.record('http server listening');
  // Its own address was not known when it was started.
  expect(await first.json('/readyz')).toMatchObject({ role: 'leader', leader: { pid: second.pid, url: `${first.url}/` } });
  await second.stop();
});

it('a standby tells why its leader cannot read the tracker, from the start on', async (test) => {
  const tracker = await startServer(() => text('away', 503));
  test.onTestFinished(() => tracker.close());
  const kind = `kind: github\nproject: acme/shop\nendpoint: ${tracker.url}\napi_key: $GITHUB_TOKEN\nactive_states: [todo]`;
  const sections = { tracker: kind, agent: 'kind: mock', store: 'url: $DATABASE_URL' };
  await playground.write('WORKFLOW.md', workflowText(sections));
  const options = { env: { DATABASE_URL: url, GITHUB_TOKEN: 'token-of-nobody' } };
  const first = await playground.start(['--port', '0'], options);
  const second = await playground.start(['--port', '0'], options);
  for (const daemon of [first, second]) {
    await daemon.record('http server listening');
    const { tracker_problem } = await eventually(
      () => daemon.json('/api/v2/holds').catch(() => ({ tracker_problem: null })),
      (holds) => holds['tracker_problem'] != null,
      'why the tracker cannot be read',
    );
    expect(tracker_problem).toMatchObject({ error: expect.stringContaining('status 503'), next_try_at: expect.any(String) });
    const page = (await (await daemon.get('/')).text()).replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');
    expect(page).toMatch(/(The tracker cannot be read yet|The last poll failed)\. .*status 503.*check tracker\.endpoint/);
  }
  const { stdout } = await playground.run(['status', 'WORKFLOW.md'], options);
  expect(stdout).toMatch(/^PROBLEM \(tracker\) since .*status 503.*check tracker\.endpoint/m);
  await Promise.all([first.stop(), second.stop()]);
});

it('lets a leader that was stopped and wakes up store and do nothing', async () => {
  await playground.writeIssues([]);
  const { first, second } = await startBoth();
  first.signal('SIGSTOP');
  await playground.writeIssues([issue(1)]);
  await second.record('leading');
  await becomes(1, 'review');
  await playground.writeIssues([]);
  const before = await postgres.query('SELECT max(epoch)::integer AS epoch FROM foray.runs', url);
  await playground.writeIssues([issue(2)]);
  first.signal('SIGCONT');
  await first.record('no longer leading, standing by');
  await becomes(2, 'review');
  expect(await postgres.query('SELECT identifier, epoch::integer FROM foray.runs ORDER BY rowid', url)).toEqual([
    { identifier: 'A-1', ...before[0] },
    { identifier: 'A-2', ...before[0] },
  ]);
  await Promise.all([first.stop(), second.stop()]);
});

it('lets a leader that was stopped and wakes up end no process of the one that leads by now', async () => {
  await playground.writeIssues([issue(1)]);
  const hooks = `before_run: "echo $$ > ${playground.path('pid')}; exec sleep 300"\ntimeout_ms: 200000`;
  await playground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL', hooks }));
  const options = { env: { DATABASE_URL: url } };
  const pidOtherThan = async (known: number): Promise<number> =>
    eventually(
      async () => Number(await playground.read('pid').catch(() => '')),
      (pid) => pid !== 0 && pid !== known,
      'the process of the hook',
    );
  const first = await playground.start(['--port', '0'], options);
  const before = await pidOtherThan(0);
  const second = await playground.start(['--port', '0'], options);
  await second.record('standing by');
  first.signal('SIGSTOP');
  await second.record('leading');
  const after = await pidOtherThan(before);
  first.signal('SIGCONT');
  await first.record('no longer leading, standing by');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect([before, after].map(isAlive)).toEqual([false, true]);
  second.signal('SIGKILL');
  await Promise.all([first.stop(), second.exited]);
});

describe('a leader that sleeps while it begins', () => {
  let cli: string;
  beforeAll(async () => {
    cli = await buildCrashing();
  });

  it.each(['3 before committing', '3 after committing', '4 before committing'])(
    'stands by when it wakes up and another one leads (%s)',
    async (step) => {
      await playground.writeIssues([]);
      await playground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL' }));
      const env = { DATABASE_URL: url };
      const first = await playground.start(['--port', '0'], {
        cli,
        env: { ...env, FORAY_TEST_FREEZE_AT: step },
        until: 'leading',
      });
      const second = await playground.start(['--port', '0'], { env });
      await second.record('leading');
      first.signal('SIGCONT');
      await first.record('standing by');
      expect((await first.stop()).code).toBe(0);
      await second.stop();
    },
  );
});

it('leaves no process behind when it is killed, for a leader elsewhere could not end it', async () => {
  await playground.writeIssues([issue(1)]);
  const hooks = `before_run: "echo $$ > ${playground.path('pid')}; exec sleep 300"\ntimeout_ms: 200000`;
  await playground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL', hooks }));
  const daemon = await playground.start(['--port', '0'], { env: { DATABASE_URL: url } });
  const pid = Number(
    await eventually(
      () => playground.read('pid').catch(() => ''),
      (text) => text.trim() !== '',
    ),
  );
  expect(isAlive(pid)).toBe(true);
  daemon.signal('SIGKILL');
  await eventually(
    () => isAlive(pid),
    (alive) => !alive,
    'the end of the hook',
  );
});

it('goes on after the server was restarted under it, and loses nothing', async () => {
  await playground.writeIssues([issue(1)]);
  await playground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL' }));
  const daemon = await playground.start(['--port', '0'], { env: { DATABASE_URL: url } });
  await becomes(1, 'review');
  await postgres.stop('crash');
  expect((await daemon.get('/readyz')).status).toBe(503);
  expect(await daemon.json('/readyz')).toMatchObject({ checks: { database: 'fail', preflight: 'pass' } });
  await playground.writeIssues([{ ...issue(1), state: 'review' }, issue(2)]);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(await stateOf(2)).toBe('todo');
  await postgres.start();
  await becomes(2, 'review');
  expect(await daemon.json('/readyz')).toMatchObject({ checks: { database: 'pass' } });
  expect(await postgres.query('SELECT identifier, status FROM foray.runs ORDER BY rowid', url)).toHaveLength(2);
  await daemon.stop();
});

it('stays the leader when the server was away for longer than a leader may be silent', { timeout: 100_000 }, async () => {
  await playground.writeIssues([issue(1)]);
  const { first, second } = await startBoth('kind: mock\nmax_turns: 2\nstop_grace_ms: 100');
  await second.record('standing by');
  await becomes(1, 'review');
  // Until the leader has seen that another one is there.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  for (const how of ['fast', 'crash'] as const) {
    await postgres.stop(how);
    await new Promise((resolve) => setTimeout(resolve, 13_000));
    await postgres.start();
    await new Promise((resolve) => setTimeout(resolve, 8_000));
    expect(second.records().filter(({ msg }) => msg === 'leading')).toEqual([]);
    expect(await first.json('/readyz')).toMatchObject({ role: 'leader', leader: { epoch: 1 } });
  }
  await Promise.all([first.stop(), second.stop()]);
});

it('lets nobody start what may go on under a leader elsewhere, and says until when', async () => {
  await playground.writeIssues([issue(1)]);
  await playground.write(
    'WORKFLOW.md',
    fileWorkflow({ store: 'url: $DATABASE_URL', agent: 'kind: mock\nmax_turns: 2', mock: 'turn_delay_ms: 600000' }),
  );
  const options = { env: { DATABASE_URL: url } };
  const first = await playground.start(['--port', '0'], options);
  await first.record('agent session started');
  const second = await playground.start(['--port', '0'], options);
  await second.record('standing by');
  await postgres.query("UPDATE foray.instances SET machine = 'another' WHERE id = (SELECT instance FROM foray.leader)", url);
  first.signal('SIGKILL');
  await second.record('leading');
  await second.record('tick completed');
  const retried = await playground.run(['retry', 'A-1'], options);
  expect(retried.stdout).toMatch(
    /A-1 is due now, but its last session may go on elsewhere until .*, so it does not start before/,
  );
  await playground.run(['stop', 'A-1'], options);
  const released = await playground.run(['unpark', 'A-1'], options);
  expect(released.stdout).toContain('A-1 is released, but its last session may go on elsewhere until');
  const explained = (await playground.run(['explain', 'A-1'], options)).stdout;
  expect(explained).toContain('ending_elsewhere');
  expect(explained).toContain('remedy: nothing: it starts when its session under the leader before is surely over');
  // A leader that starts again knows of it.
  await second.stop();
  const third = await playground.start(['--port', '0'], options);
  await third.record('tick completed');
  expect(await third.json('/api/v2/holds')).toMatchObject({ holds: [{ reason: 'ending_elsewhere' }] });
  expect(await postgres.query('SELECT status FROM foray.runs', url)).toEqual([{ status: 'interrupted' }]);
  await third.stop();
});

it('is alive and not ready when it was cut off and does not lead any more', async () => {
  await playground.writeIssues([]);
  await playground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL' }));
  const link = await openLink(postgres.port);
  const cut = await playground.start(['--port', '0'], { env: { DATABASE_URL: link.through(url) } });
  const other = await playground.start(['--port', '0'], { env: { DATABASE_URL: url } });
  await other.record('standing by');
  // Until the leader has seen that another one is there.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  link.cut();
  await cut.record('no longer leading, standing by');
  const at = await eventually(
    () => cut.records().filter(({ msg }) => msg === 'http server listening')[1]?.['url'],
    (found) => found !== undefined,
    'the pages of the one that is cut off',
  );
  expect((await fetch(new URL('/livez', at))).status).toBe(200);
  const ready = await fetch(new URL('/readyz', at));
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ role: 'standby', leader: null, checks: { database: 'fail' } });
  link.heal();
  await eventually(
    async () => (await fetch(new URL('/readyz', at))).status,
    (status) => status === 200,
    'the database to be told',
  );
  await Promise.all([cut.stop(), other.stop()]);
  await link.close();
}, 100_000);

it('waits for a server that was made a replica, says so, and goes on with the one that takes writes', async () => {
  await playground.writeIssues([issue(1)]);
  await playground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL' }));
  const daemon = await playground.start(['--port', '0'], { env: { DATABASE_URL: url } });
  await becomes(1, 'review');
  const name = new URL(url).pathname.slice(1);
  await postgres.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  await postgres.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
  await eventually(
    () => daemon.json('/readyz'),
    (ready) => (ready['checks'] as { database?: string }).database === 'fail',
    'the database to be told',
  );
  await playground.writeIssues([{ ...issue(1), state: 'review' }, issue(2)]);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(await stateOf(2)).toBe('todo');
  await postgres.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  await becomes(2, 'review');
  expect(await daemon.json('/readyz')).toMatchObject({ checks: { database: 'pass' } });
  expect(await postgres.query('SELECT identifier, status FROM foray.runs ORDER BY rowid', url)).toHaveLength(2);
  await daemon.stop();
});
