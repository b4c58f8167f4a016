import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openDelivery, type DeliveryStage } from '../e2e/delivery-stage.ts';
import { forgeEnv } from '../e2e/reactions/forge.ts';
import { CLI, TOOL_PATH } from '../support/daemon.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

let postgres: TestPostgres;
let stage: DeliveryStage;
const children: ChildProcess[] = [];
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.remove());
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await stage.close();
});

describe('workspace.repo on workers', () => {
  it('is checked out, made anew on another worker, pushed and proposed, without its token', { timeout: 120_000 }, async () => {
    stage = await openDelivery('selfhosted', { patienceMs: 60_000 });
    const { ground, forge, origin, opened } = stage;
    const url = await postgres.createDatabase();
    const env = { FLEET_DB: url, PATH: TOOL_PATH };
    const startWorker = (name: string): ChildProcess => {
      const args = [CLI, 'worker', '--url', '$FLEET_DB', '--name', name, '--root', ground.path(name)];
      const child = spawn(process.execPath, args, { env: { ...env, HOME: ground.dir }, stdio: 'ignore' });
      children.push(child);
      return child;
    };
    const issue = forge.addIssue('Add a page');
    await stage.write('pwd >> page', {
      agent: 'kind: mock\nmax_turns: 1\nrun_on: []\nmax_retry_backoff_ms: 200',
      mock: 'turn_delay_ms: 2500',
      store: 'url: $FLEET_DB',
    });
    const daemon = await ground.start(['--port', '0'], { env: { ...env, ...forgeEnv(forge) } });
    const first = startWorker('w1');
    await daemon.record('turn started', { issue_id: issue });
    first.kill('SIGKILL');
    await postgres.query("DELETE FROM foray.worker_hosts WHERE name = 'w1'", url);
    startWorker('w2');
    await daemon.record('handoff transition succeeded, releasing claim', { issue_id: issue });
    expect(await origin.git('origin.git', 'show', `foray/${issue}:page`)).toBe(ground.path('w2', issue));
    expect(opened()).toHaveLength(1);
    expect(opened()[0]?.json()).toMatchObject({ title: 'Add a page' });
    await daemon.record('merge request watched', { issue_id: issue });
    const { stdout } = await ground.run(['logs', issue], { env: { ...env, ...forgeEnv(forge) } });
    expect(stdout).toContain('worker_lost: w1');
    expect(stdout).toContain('the workspace is on w1, which cannot be used now: it is made anew on w2');
    const found = execFileSync('sh', ['-c', `grep -rlF '${forge.token}' w1 w2 || true`], { cwd: ground.dir, encoding: 'utf8' });
    expect(found).toBe('');
    await daemon.stop();
  });
});
