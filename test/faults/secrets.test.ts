import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, readdir } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow, workflowText, type Finished, type Playground } from '../support/daemon.ts';
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

/**
 * A hook that shows all it can see, but for processes of other tests, and prints the token, which it has from somewhere
 * else, in several dresses.
 */
const HOOKS = `before_run: |
  env > environment
  for process in /proc/[0-9]*; do
    case "$(readlink "$process/cwd")" in "$HOME" | "$HOME"/*) tr '\\0' ' ' < "$process/cmdline" || true ;; esac
  done > processes 2> /dev/null
after_run: |
  cat "$HOME/token" "$HOME/dresses"
  exit 1`;

/** The credentials of everything but the tracker, each with a value of its own. */
function otherSecrets(): Readonly<Record<string, string>> {
  const words = { SERVER_TOKEN: 'srv', HOOK_URL: 'hook', HOOK_SECRET: 'sign', OTHER_FORGE: 'forge', WEBHOOK: 'web' };
  return Object.fromEntries(Object.entries(words).map(([name, word]) => [name, `${word}-${randomUUID()}`]));
}

/** Nobody listens at that port. */
const OTHER_SECTIONS = {
  server: 'token: $SERVER_TOKEN\nwebhooks: { secret: $WEBHOOK }',
  gitlab: 'api_key: $OTHER_FORGE\nproject: a/b',
  notifications: '- { url: "http://127.0.0.1:1/$HOOK_URL", secret: $HOOK_SECRET }',
};

/** As it is, and as no mask would find it by itself. */
function formsOf(secret: string): readonly string[] {
  return [secret, Buffer.from(secret).toString('hex')];
}

it('a credential shows nowhere: log, API, pages, metrics, database, child environments, process list', async () => {
  const others = otherSecrets();
  const secrets = [...Object.values(stage.env), ...Object.values(others)];
  const dresses = secrets.flatMap((secret) => [
    ...formsOf(secret),
    encodeURIComponent(encodeURIComponent(secret)),
    Buffer.from(`user:${secret}`).toString('base64'),
  ]);
  await ground.write('token', `${secrets.join('\n')}\n`);
  await ground.write('dresses', dresses.join('\n'));
  await ground.write('WORKFLOW.md', stageWorkflow(stage, { hooks: HOOKS, ...OTHER_SECTIONS }));
  await stage.add({ title: 'One', state: stage.states.todo });
  const env = { ...stage.env, ...others };
  const daemon = await ground.start(['--port', '0', '--log-level', 'debug'], { env });
  await daemon.record('hook failed');
  await daemon.record('handoff transition succeeded, releasing claim');
  await daemon.record('notification failed, it is tried again');
  const shown: Record<string, string> = { log: daemon.stderr() };
  const headers = { authorization: `Bearer ${others['SERVER_TOKEN']}` };
  for (const route of ['/', '/metrics', '/api/v1/state', '/api/v2/runs', '/api/v2/workflow', '/api/v2/openapi.json'])
    shown[route] = await (await daemon.get(route, { headers })).text();
  shown['login'] = await (await daemon.get('/')).text();
  shown['database'] = ['', '-wal'].map((suffix) => readFileSync(ground.path(`.foray.db${suffix}`), 'latin1')).join('');
  const [workspace] = await workspaces();
  shown['environment of a hook'] = await ground.read(`ws/${workspace}/environment`);
  shown['process list'] = await ground.read(`ws/${workspace}/processes`);
  await daemon.stop();
  expect(shown['log']).toContain('[redacted]');
  expect(shown['process list']).toContain('WORKFLOW.md');
  expect(shown['/api/v1/state']).toContain('"running"');
  for (const [place, text] of Object.entries(shown))
    for (const form of secrets.flatMap(formsOf)) expect(text.includes(form), `${place} shows ${form}`).toBe(false);
});

it('a credential in the title of an issue is shown and stored nowhere, and hooks get the title as it is', async () => {
  const others = otherSecrets();
  const secret = others['SERVER_TOKEN'] ?? '';
  const hooks = 'before_run: printf %s "$FORAY_ISSUE_TITLE" > title';
  await ground.write('WORKFLOW.md', stageWorkflow(stage, { ...OTHER_SECTIONS, hooks }));
  await stage.add({ title: `Use ${secret} there`, state: stage.states.todo });
  const daemon = await ground.start(['--port', '0', '--log-level', 'debug'], { env: { ...stage.env, ...others } });
  await daemon.record('handoff transition succeeded, releasing claim');
  const shown: Record<string, string> = {};
  for (const route of ['/', '/api/v1/state', '/api/v2/runs'])
    shown[route] = await (await daemon.get(route, { headers: { authorization: `Bearer ${secret}` } })).text();
  const [workspace] = await workspaces();
  expect(await ground.read(`ws/${workspace}/title`)).toBe(`Use ${secret} there`);
  await daemon.stop();
  shown['log'] = daemon.stderr();
  shown['database'] = readFileSync(ground.path('.foray.db'), 'latin1');
  expect(shown['database']).toContain('Use [redacted] there');
  expect(shown['/api/v2/runs']).toContain('Use [redacted] there');
  for (const [place, text] of Object.entries(shown)) expect(text.includes(secret), place).toBe(false);
});

const FULL = process.env['FORAY_FAULTS'] === 'full';
/** What reads the workflow file, and meets a database and a tracker that do not answer. The whole suite runs the first ones. */
const COMMANDS: readonly (readonly string[])[] = [
  ['run', '--port', '0', '--log-level', 'debug'],
  ['status', '--format', 'json'],
  ['stop', 'A-1'],
  ['doctor'],
  ['doctor', '--format', 'json'],
  ['validate', '--format', 'json'],
  ['run', '--dry-run', '--log-level', 'debug', '--log-format', 'json'],
  ['explain', '--format', 'json'],
  ['stats'],
  ['logs', 'A-1'],
  ['plan', 'WORKFLOW.md'],
  ['retry', 'A-1'],
  ['pause'],
  ['backup', 'copy.db'],
  ['migrate', '--to', '$DATABASE'],
];
const BOUNDED = 3;

it.each(FULL ? ['references', 'values'] : ['values'])(
  'no command shows a credential when nothing answers: written as %s',
  { timeout: 240_000 },
  async (how) => {
    const password = `db-${randomUUID()}`;
    const env: Readonly<Record<string, string>> = {
      ...otherSecrets(),
      TRACKER: `tracker-${randomUUID()}`,
      REPO: `repo-${randomUUID()}`,
      DATABASE: `postgres://foray:${password}@127.0.0.1:1/foray?sslmode=disable`,
    };
    const sections = {
      tracker: `kind: repoissues\nendpoint: http://127.0.0.1:1\napi_key: $TRACKER\nproject: a/b\nactive_states: [todo]\nhandoff_state: review`,
      agent: 'kind: mock',
      workspace: 'root: ws\nrepo: http://127.0.0.1:1/a/b.git\nrepo_token: $REPO',
      store: 'url: $DATABASE',
      ...OTHER_SECTIONS,
    };
    const written = how === 'references' ? workflowText(sections) : inPlace(workflowText(sections), env);
    await ground.write('WORKFLOW.md', written);
    const commands = FULL ? COMMANDS : COMMANDS.slice(0, BOUNDED);
    for (const args of commands) {
      const { stdout, stderr, code } = await outcomeOf(args, { ...env, FORAY_DEBUG: '1' });
      expect(stdout + stderr, `${args.join(' ')} (${code}) says something`).not.toBe('');
      for (const secret of [password, ...Object.values(env)].flatMap(formsOf))
        expect((stdout + stderr).includes(secret), `${args.join(' ')} shows ${secret}: ${stdout}${stderr}`).toBe(false);
    }
  },
);

/** The service itself waits for its database: it is ended when it has said so. */
async function outcomeOf(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Finished> {
  if (!args.includes('--port')) return ground.run([...args, 'WORKFLOW.md'], { env });
  return (await ground.start(args, { env, until: 'waiting for the database' })).stop();
}

/** The file as somebody writes it who does not know better. */
function inPlace(text: string, env: Readonly<Record<string, string>>): string {
  return Object.entries(env).reduce((filled, [name, value]) => filled.replaceAll(`$${name}`, value), text);
}

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
    const env = otherSecrets();
    await chmod(await ground.write('agent.sh', AGENT), 0o755);
    const sections = {
      agent: `kind: claude-code\ncommand: [${ground.path('agent.sh')}]\nmax_turns: 1`,
      ...OTHER_SECTIONS,
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

/** Plays Claude Code: repeats its own key to all who listen, by its tools and by its file. */
const TELLTALE = `#!${process.execPath}
const fs = require('node:fs');
const { foray } = JSON.parse(process.argv[process.argv.indexOf('--mcp-config') + 1]).mcpServers;
const server = require('node:child_process').spawn(foray.command, foray.args, { stdio: ['pipe', 'pipe', 'inherit'] });
const key = process.env.ANTHROPIC_API_KEY;
const params = { name: 'comment', arguments: { text: 'my key is ' + key } };
const say = (value) => console.log(JSON.stringify({ session_id: '00000000-0000-4000-8000-000000000000', ...value }));
process.stdin.resume();
process.stdin.on('end', () => server.stdin.write(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }) + '\\n'));
server.stdout.once('data', () => {
  server.kill();
  fs.mkdirSync('.foray', { recursive: true });
  fs.writeFileSync('.foray/status', 'blocked\\nI have only ' + key);
  const usage = { input_tokens: 1, output_tokens: 1 };
  say({ type: 'system', subtype: 'init', model: 'm', tools: [], mcp_servers: [] });
  say({ type: 'assistant', message: { id: 'm1', model: 'm', content: [{ type: 'text', text: 'done' }], usage } });
  say({ type: 'result', subtype: 'success', is_error: false, result: 'done', usage });
});
`;

it("an agent's own key shows nowhere either, whatever way the agent repeats it", async () => {
  const key = `sk-ant-${randomUUID()}`;
  await chmod(await ground.write('agent.cjs', TELLTALE), 0o755);
  await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'One', state: 'todo' }]);
  const agent = `kind: claude-code\ncommand: [${ground.path('agent.cjs')}]\nmax_turns: 1`;
  await ground.write('WORKFLOW.md', fileWorkflow({ agent }));
  const daemon = await ground.start(['--port', '0'], { env: { ANTHROPIC_API_KEY: key } });
  await daemon.record('issue parked until a person acts', { issue_identifier: 'A-1' });
  const shown: Record<string, string> = {};
  for (const route of ['/', '/api/v2/parked', '/api/v2/issues/A-1']) shown[route] = await (await daemon.get(route)).text();
  shown['tracker'] = await ground.read('issues.json');
  await daemon.stop();
  shown['log'] = daemon.stderr();
  shown['database'] = readFileSync(ground.path('.foray.db'), 'latin1');
  expect(shown['tracker']).toContain('my key is [redacted]');
  expect(shown['/api/v2/parked']).toContain('I have only [redacted]');
  for (const [place, text] of Object.entries(shown)) expect(text.includes(key), place).toBe(false);
});

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
