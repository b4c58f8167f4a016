import { chmod, mkdir } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { text } from '../../support/http-server.ts';
import { createPlayground, eventually, fileWorkflow, TOOL_PATH, type Playground } from '../../support/daemon.ts';
import { buildStage, remoteOf, stageWorkflow } from './stage.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

const OUTAGES = [
  ['refuses its token', text('{"message":"Bad credentials"}', 401), /tracker_auth_error.*status 401/, null],
  ['is down', text('Service Unavailable', 503), /status 503/, null],
  ['wants to be left alone', text('{}', 429, { 'retry-after': '1200' }), /status 429/, expect.any(String) as string],
] as const;

it.each(OUTAGES)('explain says that the tracker of the service %s, though the shell reads it', async (_, answer, why, until) => {
  const stage = await buildStage('repoissues', ground);
  const { proxy } = remoteOf(stage);
  await ground.write('WORKFLOW.md', stageWorkflow(stage, { polling: 'interval_ms: 600000' }));
  const daemon = await ground.start(['--port', '0'], { env: stage.env });
  await daemon.record('tick completed');
  proxy.shut(answer);
  await daemon.get('/api/v1/refresh', { method: 'POST' });
  await daemon.record('poll failed, nothing dispatched until the next one');
  proxy.shut(null);
  const { identifier } = await stage.add({ title: 'New', state: stage.states.todo });
  const explained = await eventually(
    () => ground.run(['explain', identifier, '--format', 'json'], { env: stage.env }),
    ({ code }) => code !== 0,
    'what the service says of its tracker',
  );
  const detail = expect.stringMatching(why) as string;
  const held = { would_dispatch: false, reason: 'tracker_failed', detail, since: expect.any(String) as string, until };
  expect([explained.code, JSON.parse(explained.stdout)]).toMatchObject([1, [held]]);
  await stage.close();
});

it('explain takes the preflight of the service, whose agent the shell need not have', async () => {
  await mkdir(ground.path('bin'));
  await chmod(await ground.write('bin/claude', '#!/bin/sh\necho "2.1.0 (Claude Code)"\n'), 0o755);
  const tracker = 'kind: file\nactive_states: [todo]\nterminal_states: [done]\nauthors: [bob]';
  await ground.write('WORKFLOW.md', fileWorkflow({ tracker, agent: 'kind: claude-code' }));
  await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'One', state: 'todo', author: 'eve' }]);
  const daemon = await ground.start([], { env: { PATH: `${ground.path('bin')}:${TOOL_PATH}`, ANTHROPIC_API_KEY: 'sk' } });
  await daemon.record('candidate held', { reason: 'untrusted_author' });
  const { code, stdout } = await ground.run(['explain', 'A-1', '--format', 'json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([1, [{ reason: 'untrusted_author' }]]);
});
