import { spawn, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Client } from 'pg';
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
  await daemon.stop();
});
