import { existsSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPlayground, type Playground } from '../../support/daemon.ts';
import { buildStage, stageWorkflow } from './stage.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

const FORGES = ['nsproject', 'repoissues', 'selfhosted'];

it.each(FORGES)('an issue of %s that somebody closes is left alone, also where a try was to follow', async (kind) => {
  const stage = await buildStage(kind, ground);
  const running = await stage.add({ title: 'Running', state: stage.states.todo });
  const failing = await stage.add({ title: 'Failing', state: stage.states.todo });
  const mock = `outcomes_by_issue:\n  "${running.identifier}": [hang]\n  "${failing.identifier}": [failed]`;
  const agent = 'kind: mock\nmax_retry_backoff_ms: 1500';
  await ground.write('WORKFLOW.md', stageWorkflow(stage, { mock, agent }));
  const daemon = await ground.start(['--log-level', 'debug'], { env: stage.env });
  await daemon.record('turn started', { issue_identifier: running.identifier });
  await daemon.record('retry scheduled', { issue_identifier: failing.identifier });
  for (const { id } of [running, failing]) await stage.shut?.(id);
  const stopped = { issue_identifier: running.identifier, reason: 'inactive', state: 'closed' };
  await daemon.record('reconciliation stops the run', stopped);
  await daemon.record('claim released', { issue_identifier: failing.identifier, reason: 'the issue is closed' });
  await daemon.record('claim released', { issue_identifier: running.identifier });
  expect(existsSync(ground.path('ws', running.identifier))).toBe(true);
  for (const { id } of [running, failing]) expect(await stage.stateOf(id)).toBe(stage.states.doing);
  await daemon.stop();
  const { code, stdout } = await ground.run(['explain', running.identifier, '--format', 'json', 'WORKFLOW.md'], {
    env: stage.env,
  });
  const explained = { reason: 'not_active', detail: 'the issue is closed', remedy: 'reopen the issue' };
  expect([code, JSON.parse(stdout)]).toMatchObject([1, [explained]]);
  await stage.close();
});
