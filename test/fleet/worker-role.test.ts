import { spawn, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Client } from 'pg';
import { openWorkerConnection } from '../../src/store/postgres/worker-connection.ts';
import { CLI, createPlayground, fileWorkflow, TOOL_PATH, type Playground } from '../support/daemon.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

let postgres: TestPostgres;
let ground: Playground;
let worker: ChildProcess | null = null;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.remove());
afterEach(async () => {
  worker?.kill('SIGKILL');
  await ground.cleanup();
});

/** What the page tells an administrator to run, between the marks of its block of SQL. */
async function grantsOfDocs(): Promise<string> {
  const page = await readFile(new URL('../../docs/workers.md', import.meta.url), 'utf8');
  return /```sql\n([^`]*)```/.exec(page)?.[1] ?? '';
}

/** Tables that a worker must not write, and what it would gain by each. */
const FORBIDDEN = [
  'claims',
  'outbox',
  'runs',
  'parked',
  'watches',
  'spent',
  'approvals',
  'told',
  'operator_requests',
  'leader',
  'worker_runs',
];

it('a worker works under a role that can write to none of the records', { timeout: 120_000 }, async () => {
  ground = await createPlayground({ patienceMs: 60_000 });
  const url = await postgres.createDatabase();
  await ground.write('WORKFLOW.md', fileWorkflow({ agent: 'kind: mock\nmax_turns: 1\nrun_on: []', store: 'url: $FLEET_DB' }));
  await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'One', state: 'todo' }]);
  const daemon = await ground.start(['--port', '0'], { env: { FLEET_DB: url, PATH: TOOL_PATH } });
  await daemon.record('http server listening');
  await postgres.query('CREATE ROLE foray_worker LOGIN', url);
  await postgres.query((await grantsOfDocs()).replace(/^CREATE ROLE .*$/m, ''), url);
  const narrow = url.replace('postgres://postgres@', 'postgres://foray_worker@');
  const env = { FLEET_DB: narrow, PATH: TOOL_PATH };
  const args = ['worker', '--url', '$FLEET_DB', '--name', 'w1', '--root', ground.path('w1')];
  worker = spawn(process.execPath, [CLI, ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  await daemon.record('handoff transition succeeded, releasing claim', { issue_identifier: 'A-1' });

  const client = new Client({ connectionString: narrow });
  await client.connect();
  try {
    for (const table of FORBIDDEN) {
      await expect(client.query(`DELETE FROM foray.${table}`), table).rejects.toThrow('permission denied');
      await expect(client.query(`UPDATE foray.${table} SET epoch = 9`), table).rejects.toThrow(
        /permission denied|does not exist/,
      );
    }
    for (const table of ['claims', 'outbox', 'workspace_key', 'run_events'])
      await expect(client.query(`SELECT * FROM foray.${table}`), table).rejects.toThrow('permission denied');
    await expect(client.query('CREATE TABLE foray.mine (a int)')).rejects.toThrow('permission denied');
    await expect(client.query("SELECT graphile_worker.add_job('x')")).rejects.toThrow('permission denied');
  } finally {
    await client.end();
  }
  // What was taken from it while it works.
  await postgres.query('REVOKE INSERT ON foray.worker_words FROM foray_worker', url);
  const left = new Promise((resolve) => worker?.once('exit', resolve));
  await ground.writeIssues([{ id: '2', identifier: 'A-2', title: 'Two', state: 'todo' }]);
  expect(await left).toBe(1);
  await daemon.record('retry scheduled', { issue_identifier: 'A-2' });
  await daemon.stop();
});

it('a worker whose role lacks a right refuses to start and names it', { timeout: 120_000 }, async () => {
  ground = await createPlayground({ patienceMs: 60_000 });
  const url = await postgres.createDatabase();
  await ground.write('WORKFLOW.md', fileWorkflow({ agent: 'kind: mock\nmax_turns: 1\nrun_on: []', store: 'url: $FLEET_DB' }));
  await ground.writeIssues([]);
  const daemon = await ground.start(['--port', '0'], { env: { FLEET_DB: url, PATH: TOOL_PATH } });
  await daemon.record('http server listening');
  await daemon.stop();
  const grants = (await grantsOfDocs())
    .replace(/^CREATE ROLE .*$/m, '')
    .replaceAll(/(GRANT .*|CREATE POLICY .*) TO foray_worker/g, '$1 TO lacking');
  await postgres.query(`CREATE ROLE lacking LOGIN; ${grants}`, url);
  const narrow = url.replace('postgres://postgres@', 'postgres://lacking@');
  const facts = { name: 'w', identity: 'ab', labels: [], slots: 1, version: '0.1.0' };
  await (await openWorkerConnection(narrow, facts)).close();
  const rights = [
    'USAGE ON SCHEMA graphile_worker',
    'UPDATE (draining) ON foray.worker_hosts',
    'INSERT ON foray.worker_words',
    'DELETE ON foray.worker_requests',
    'SELECT ON graphile_worker._private_jobs',
  ];
  for (const right of rights) {
    await postgres.query(`REVOKE ${right} FROM lacking`, url);
    await expect(openWorkerConnection(narrow, facts)).rejects.toThrow(`lacks rights for a worker (${right})`);
    await postgres.query(`GRANT ${right} TO lacking`, url);
  }
  await postgres.query('DROP POLICY foray_worker ON graphile_worker._private_jobs', url);
  await expect(openWorkerConnection(narrow, facts)).rejects.toThrow('(POLICY ON graphile_worker._private_jobs)');
});
