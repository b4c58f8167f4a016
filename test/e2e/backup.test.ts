import { readFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { createPlayground, fileWorkflow } from '../support/daemon.ts';

it('a backup of a running service is restored as the page says, and the service goes on from it', async ({ onTestFinished }) => {
  const ground = await createPlayground();
  onTestFinished(() => ground.cleanup());
  await ground.writeIssues([{ id: '1', identifier: 'T-1', title: 'One', state: 'todo' }]);
  await ground.write('WORKFLOW.md', fileWorkflow({ agent: 'kind: mock\nmax_turns: 1' }));
  const daemon = await ground.start(['--port', '0']);
  await daemon.record('handoff transition succeeded, releasing claim');
  expect((await ground.run(['pause', '--reason', 'moving house'])).code).toBe(0);
  const made = await ground.run(['backup', 'foray-2026-03-01.db']);
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/written: 1 runs, \d+ bytes, checked/) as string });
  expect(await ground.run(['backup', 'foray-2026-03-01.db'])).toMatchObject({ code: 1 });
  expect((await ground.run(['resume'])).code).toBe(0);
  daemon.signal('SIGKILL');
  await daemon.exited;

  await ground.write('.foray.db', 'lost');
  const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const restore = /^cp foray-2026-03-01\.db .*$/m.exec(page)?.[0] ?? '';
  execFileSync('sh', ['-ec', restore], { cwd: ground.dir });
  const next = await ground.start(['--port', '0']);
  expect(await next.json('/api/v2/runs')).toMatchObject({ runs: [{ issue_identifier: 'T-1', status: 'succeeded' }] });
  expect((await ground.run(['status'])).stdout).toContain('moving house');
  expect((await next.stop()).code).toBe(0);
});
