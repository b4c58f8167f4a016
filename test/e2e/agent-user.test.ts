import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findUser } from '../../src/lib/process/index.ts';
import { CLI, createPlayground, eventually, fileWorkflow, type Playground } from '../support/daemon.ts';
import { isAlive } from '../support/processes.ts';

/** Whom agents run as here. Starting programs as somebody else takes root; elsewhere these tests say that they were skipped. */
const OTHER = 'nobody';
const isRoot = process.getuid?.() === 0 && findUser(OTHER) !== null;

/** Plays Claude Code, and tells who it is and what it can reach. */
const AGENT = `#!${process.execPath}
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const net = require('node:net');
const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
child.unref();
const may = (work) => { try { work(); return true; } catch { return false; } };
const { FORAY_TOOL_SOCKET: socket, FORAY_TOOL_TOKEN: token, SECRET_DB: db, HOME, USER } = process.env;
const facts = {
  uid: process.getuid(), gid: process.getgid(), groups: process.getgroups(), HOME, USER, stray: child.pid,
  readsDatabase: may(() => fs.readFileSync(db)),
  readsDaemon: may(() => fs.readFileSync('/proc/' + process.ppid + '/environ')),
  writesHere: may(() => fs.writeFileSync('made.txt', 'by the agent')),
};
const say = (value) => console.log(JSON.stringify(value));
const session_id = '00000000-0000-4000-8000-000000000000';
const end = (tools) => {
  fs.writeFileSync('facts.json', JSON.stringify({ ...facts, tools }));
  say({ type: 'system', subtype: 'init', session_id, model: 'm', tools: [], mcp_servers: [] });
  say({ type: 'assistant', session_id, message: { id: 'm1', model: 'm', content: [{ type: 'text', text: 'done' }], usage: { input_tokens: 1, output_tokens: 1 } } });
  say({ type: 'result', subtype: 'success', is_error: false, session_id, result: 'done', usage: { input_tokens: 1, output_tokens: 1 } });
};
process.stdin.resume();
process.stdin.on('end', () => {
  const connection = net.connect(socket, () => connection.write(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'hello', params: { token, pid: process.pid } }) + '\\n'));
  connection.once('data', (data) => { connection.destroy(); end(JSON.parse(data).result !== undefined); });
  connection.once('error', (error) => end(error.code));
});
`;

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
  await chmod(ground.dir, 0o755);
});
afterEach(() => ground.cleanup());

describe.runIf(isRoot)('agent.user', () => {
  it('runs agents and hooks as that user, who has the workspace and nothing of the daemon', async () => {
    const user = findUser(OTHER);
    await ground.write('agent.cjs', AGENT);
    await chmod(ground.path('agent.cjs'), 0o755);
    const sections = {
      tracker: 'kind: file\nactive_states: [todo]\nterminal_states: [done]\nhandoff_state: review',
      agent: `kind: claude-code\ncommand: [${ground.path('agent.cjs')}]\nuser: ${OTHER}\nmax_turns: 1\nevidence: changes`,
      hooks: `after_create: mkdir -p locked/in && chmod a-w locked locked/in && id -u > hook-uid && git init -q . 2>&1`,
    };
    await ground.write('WORKFLOW.md', fileWorkflow(sections));
    await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'First', state: 'todo' }]);
    const daemon = await ground.start(undefined, { env: { SECRET_DB: ground.path('.foray.db') } });
    await daemon.record('handoff transition succeeded, releasing claim');
    const { stray, groups, ...facts } = JSON.parse(await ground.read('ws/A-1/facts.json')) as Record<string, unknown>;
    expect(facts).toEqual({
      uid: user?.uid,
      gid: user?.gid,
      HOME: user?.home,
      USER: OTHER,
      readsDatabase: false,
      readsDaemon: false,
      writesHere: true,
      tools: true,
    });
    expect(groups).toEqual([user?.gid]);
    expect((await ground.read('ws/A-1/hook-uid')).trim()).toBe(String(user?.uid));
    expect(statSync(ground.path('ws/A-1')).uid).toBe(user?.uid);
    await eventually(
      () => isAlive(Number(stray)),
      (alive) => !alive,
      'the end of what the agent left',
    );
    const [issue] = await ground.readIssues();
    await ground.writeIssues([{ ...issue, state: 'done' }]);
    await daemon.record('workspace removed');
    await daemon.stop();
  });

  it('is refused where the service may not start programs as another user', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: 'kind: mock\nuser: root' }));
    await ground.writeIssues([]);
    const user = findUser(OTHER);
    const found = spawnSync(process.execPath, [CLI, 'validate', ground.path('WORKFLOW.md')], {
      encoding: 'utf8',
      uid: user?.uid,
      gid: user?.gid,
      env: { PATH: process.env['PATH'], HOME: '/' },
    });
    expect([found.status, found.stdout + found.stderr]).toEqual([
      1,
      expect.stringMatching(/error: agent\.user: .*may not start programs as root: run it as root/),
    ]);
  });
});

it.skipIf(isRoot)('agent.user is not tried: these tests do not run as root', () => {});

it('names a user that is not there, and a repository that both sides would work on', async () => {
  await ground.write('WORKFLOW.md', fileWorkflow({ agent: 'kind: mock\nuser: nobody-of-this-name' }));
  await ground.writeIssues([]);
  const unknown = await ground.run(['validate', 'WORKFLOW.md']);
  expect([unknown.code, unknown.stdout + unknown.stderr]).toEqual([
    1,
    expect.stringContaining('has no user nobody-of-this-name'),
  ]);
});
