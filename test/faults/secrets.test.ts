import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, readdir } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPlayground, eventually, type Playground } from '../support/daemon.ts';
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

/** Plays Claude Code: starts a program of its own, waits until it may go on, and ends well. */
const AGENT = `#!/bin/sh
sleep 600 &
touch "$HOME/agent-runs"
while [ ! -e "$HOME/seen" ]; do sleep 0.05; done
kill $!
cat > /dev/null
say() { printf '%s\\n' "$1"; }
session='"session_id":"00000000-0000-4000-8000-000000000000"'
say "{\\"type\\":\\"system\\",\\"subtype\\":\\"init\\",$session,\\"model\\":\\"m\\",\\"tools\\":[],\\"mcp_servers\\":[]}"
say "{\\"type\\":\\"assistant\\",$session,\\"message\\":{\\"id\\":\\"m1\\",\\"model\\":\\"m\\",\\"content\\":[{\\"type\\":\\"text\\",\\"text\\":\\"done\\"}],\\"usage\\":{\\"input_tokens\\":1,\\"output_tokens\\":1}}}"
say "{\\"type\\":\\"result\\",\\"subtype\\":\\"success\\",\\"is_error\\":false,$session,\\"result\\":\\"done\\",\\"usage\\":{\\"input_tokens\\":1,\\"output_tokens\\":1}}"
`;

it.runIf(process.platform === 'linux')(
  'no credential is in the environment or the arguments of an agent, or of what it starts',
  async () => {
    const own = { SERVER_TOKEN: 'srv', HOOK_URL: 'hook', HOOK_SECRET: 'sign', OTHER_FORGE: 'forge', WEBHOOK: 'web' };
    const env = Object.fromEntries(Object.entries(own).map(([name, word]) => [name, `${word}-${randomUUID()}`]));
    await chmod(await ground.write('agent.sh', AGENT), 0o755);
    const sections = {
      agent: `kind: claude-code\ncommand: [${ground.path('agent.sh')}]\nmax_turns: 1`,
      server: 'token: $SERVER_TOKEN\nwebhooks: { secret: $WEBHOOK }',
      gitlab: 'api_key: $OTHER_FORGE\nproject: a/b',
      notifications: '- { url: "http://127.0.0.1:1/$HOOK_URL", secret: $HOOK_SECRET, on: [down] }',
    };
    await ground.write('WORKFLOW.md', stageWorkflow(stage, sections));
    await stage.add({ title: 'One', state: stage.states.todo });
    const daemon = await ground.start(['--port', '0'], { env: { ...stage.env, ...env, HARMLESS: 'still-here' } });
    const runs = () => existsSync(ground.path('agent-runs'));
    await eventually(runs, Boolean, 'the agent');
    const family = descendantsOf(daemon.pid);
    const shown = family.map((pid) => ['environ', 'cmdline'].map((name) => readOf(pid, name)).join('\0'));
    expect(family.length).toBeGreaterThanOrEqual(2);
    expect(shown.filter((text) => text.includes('HARMLESS=still-here')).length).toBeGreaterThanOrEqual(2);
    const itself = ['environ', 'cmdline'].map((name) => readOf(daemon.pid, name)).join('\0');
    for (const [name, secret] of Object.entries({ ...stage.env, ...env }))
      for (const text of [...shown, itself]) expect(text.includes(secret), `${name} is shown`).toBe(false);
    await ground.write('seen', '');
    await daemon.record('handoff transition succeeded, releasing claim');
    await daemon.stop();
  },
);

function descendantsOf(pid: number): readonly number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(/^.*\) . (\d+)/s.exec(readOf(Number(name), 'stat'))?.[1])] as const);
  const below = (parent: number): number[] =>
    parents.filter(([, its]) => its === parent).flatMap(([child]) => [child, ...below(child)]);
  return below(pid);
}

function readOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

async function workspaces(): Promise<string[]> {
  return (await readdir(ground.path('ws'))).filter((name) => !name.startsWith('.'));
}
