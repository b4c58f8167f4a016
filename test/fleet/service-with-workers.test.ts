import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CLI, createPlayground, eventually, fileWorkflow, TOOL_PATH, type Playground } from '../support/daemon.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

let postgres: TestPostgres;
let ground: Playground;
const children: ChildProcess[] = [];
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.remove());
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await ground.cleanup();
});

describe('a service that gives its runs to workers', () => {
  it(
    'says that none is there, uses one that comes, shows it, and takes runs back after a crash',
    { timeout: 120_000 },
    async () => {
      ground = await createPlayground({ patienceMs: 45_000 });
      const url = await postgres.createDatabase();
      const env = { FLEET_DB: url, PATH: TOOL_PATH };
      await ground.write(
        'WORKFLOW.md',
        fileWorkflow({
          agent: 'kind: mock\nmax_turns: 1\nmax_retry_backoff_ms: 200\nrun_on: [gpu]',
          mock: 'turn_delay_ms: 3000',
          store: 'url: $FLEET_DB',
        }),
      );
      await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'One', state: 'todo' }]);
      const daemon = await ground.start(['--port', '0'], { env });
      await eventually(
        () => daemon.json('/api/v2/holds'),
        (holds) => String(holds['preflight_problem']).includes('no worker with the labels gpu is there'),
        'the missing worker to be told',
      );
      const args = [
        'worker',
        '--url',
        '$FLEET_DB',
        '--name',
        'w1',
        '--label',
        'gpu',
        '--slots',
        '2',
        '--root',
        ground.path('w1'),
      ];
      const worker = spawn(process.execPath, [CLI, ...args], { env, stdio: 'ignore' });
      children.push(worker);
      await daemon.record('turn started', { issue_identifier: 'A-1' });
      const workers = (await daemon.json('/api/v2/workers'))['workers'] as Record<string, unknown>[];
      expect(workers).toEqual([
        expect.objectContaining({ name: 'w1', kind: 'worker', labels: ['gpu'], slots: 2, running: 1, problem: null }),
      ]);
      const status = await ground.run(['status', '--format', 'json'], { env });
      expect(JSON.parse(status.stdout)).toMatchObject({ running: [{ issue_identifier: 'A-1', host: 'w1' }] });
      expect(await (await daemon.get('/metrics')).text()).toContain('svc_host_slots{host="w1"} 2');
      expect(await (await daemon.get('/')).text()).toContain('w1');
      await daemon.record('handoff transition succeeded, releasing claim', { issue_identifier: 'A-1' });
      expect(existsSync(ground.path('w1', 'A-1'))).toBe(true);
      expect(existsSync(ground.path('ws', 'A-1'))).toBe(false);

      await ground.writeIssues([{ id: '2', identifier: 'A-2', title: 'Two', state: 'todo' }]);
      await daemon.record('turn started', { issue_identifier: 'A-2' });
      daemon.signal('SIGKILL');
      await daemon.exited;
      const next = await ground.start(['--port', '0'], { env });
      await next.record('handoff transition succeeded, releasing claim', { issue_identifier: 'A-2' });
      await next.stop();
      expect((await ground.readIssues())[0]).toMatchObject({ state: 'review' });
    },
  );
});
