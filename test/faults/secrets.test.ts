import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPlayground, type Playground } from '../support/daemon.ts';
import { buildStage, stageWorkflow, type Stage } from '../e2e/trackers/stage.ts';

let ground: Playground;
let stage: Stage;
beforeEach(async () => {
  ground = await createPlayground();
  stage = await buildStage('repoissues', ground);
});
afterEach(async () => {
  await stage.close();
  await ground.cleanup();
});

/** A hook that shows all it can see, and prints the token, which it has from somewhere else, in several dresses. */
const HOOKS = `before_run: |
  env > environment
  cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' > processes
after_run: |
  cat "$HOME/token" "$HOME/dresses"
  exit 1`;

it('a credential shows nowhere: log, API, pages, metrics, database, child environments, process list', async () => {
  const token = Object.values(stage.env)[0] ?? '';
  const hex = Buffer.from(token).toString('hex');
  const dresses = [encodeURIComponent(encodeURIComponent(token)), hex, Buffer.from(`user:${token}`).toString('base64')];
  await ground.write('token', `${token}\n`);
  await ground.write('dresses', dresses.join('\n'));
  await ground.write('WORKFLOW.md', stageWorkflow(stage, { hooks: HOOKS }));
  await stage.add({ title: 'One', state: stage.states.todo });
  const daemon = await ground.start(['--port', '0', '--log-level', 'debug'], { env: { ...stage.env } });
  await daemon.record('hook failed');
  await daemon.record('handoff transition succeeded, releasing claim');
  const shown: Record<string, string> = { log: daemon.stderr() };
  for (const route of ['/', '/metrics', '/api/v1/state', '/api/v2/runs', '/api/v2/workflow', '/api/v2/openapi.json'])
    shown[route] = await (await daemon.get(route)).text();
  shown['database'] = ['', '-wal'].map((suffix) => readFileSync(ground.path(`.foray.db${suffix}`), 'latin1')).join('');
  const [workspace] = await workspaces();
  shown['environment of a hook'] = await ground.read(`ws/${workspace}/environment`);
  shown['process list'] = await ground.read(`ws/${workspace}/processes`);
  await daemon.stop();
  expect(shown['log']).toContain('[redacted]');
  for (const [place, text] of Object.entries(shown))
    for (const form of [token, hex]) expect(text.includes(form), `${place} shows the token`).toBe(false);
});

async function workspaces(): Promise<string[]> {
  return (await readdir(ground.path('ws'))).filter((name) => !name.startsWith('.'));
}
