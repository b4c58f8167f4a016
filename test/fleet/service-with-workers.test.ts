import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CLI, createPlayground, eventually, fileWorkflow, TOOL_PATH, type Playground } from '../support/daemon.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

/** Plays Claude Code: calls its tools through the tool server, as it was told to start it, and writes down the answers. */
const AGENT = `#!${process.execPath}
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const { foray } = JSON.parse(process.argv[process.argv.indexOf('--mcp-config') + 1]).mcpServers;
const server = spawn(foray.command, foray.args, { stdio: ['pipe', 'pipe', 'inherit'] });
const answers = require('node:readline').createInterface({ input: server.stdout })[Symbol.asyncIterator]();
let id = 0;
const call = async (name, args = {}) => {
  id += 1;
  server.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }) + '\\n');
  return JSON.parse((await answers.next()).value).result.content[0].text;
};
const say = (value) => console.log(JSON.stringify({ session_id: '00000000-0000-4000-8000-000000000000', ...value }));
process.stdin.resume();
process.stdin.on('end', async () => {
  const told = {
    issue: JSON.parse(await call('read_issue')).title,
    moved: await call('move_issue', { state: 'done' }),
    other: await call('comment', { text: 'hello', issue: 'A-2' }),
    comment: await call('comment', { text: 'from the worker with ' + process.env.ANTHROPIC_API_KEY }),
    status: JSON.parse(await call('run_status')).turn,
    finish: await call('finish', { outcome: 'needs-human-review', statement: 'look at it' }),
  };
  fs.writeFileSync('told.json', JSON.stringify(told));
  server.kill();
  say({ type: 'system', subtype: 'init', model: 'm', tools: [], mcp_servers: [] });
  say({ type: 'assistant', message: { id: 'm1', model: 'm', content: [{ type: 'text', text: 'done' }], usage: { input_tokens: 1, output_tokens: 1 } } });
  say({ type: 'result', subtype: 'success', is_error: false, result: 'done', usage: { input_tokens: 1, output_tokens: 1 } });
});
`;

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
    { timeout: 240_000 },
    async () => {
      ground = await createPlayground({ patienceMs: 60_000 });
      const url = await postgres.createDatabase();
      const env = { FLEET_DB: url, PATH: TOOL_PATH };
      await ground.write(
        'WORKFLOW.md',
        fileWorkflow({
          agent: 'kind: mock\nmax_turns: 1\nmax_retry_backoff_ms: 200\nrun_on: [gpu]',
          mock: 'turn_delay_ms: 6000',
          hooks: `before_run: "until [ -e ${ground.path('go')} ]; do sleep 0.1; done"`,
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
      const explained = await ground.run(['explain', 'A-1'], { env });
      expect(explained).toMatchObject({ code: 1, stdout: expect.stringContaining('no worker with the labels gpu') as unknown });
      const examined = await ground.run(['doctor', '--format', 'json'], { env });
      expect(examined.code).toBe(1);
      expect((JSON.parse(examined.stdout) as { findings: unknown[] }).findings).toContainEqual(
        expect.objectContaining({ check: 'agent', status: 'error', message: expect.stringContaining('labels gpu') as unknown }),
      );
      expect(await daemon.json('/readyz')).toMatchObject({ checks: { preflight: 'fail' } });
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
      await eventually(
        async () => (await ground.run(['status'], { env })).stdout,
        (text) => /A-1.*\bw1\b/.test(text),
        'the worker of a run whose workspace is being made',
      );
      await ground.write('go', '');
      await daemon.record('turn started', { issue_identifier: 'A-1' });
      const workers = (await daemon.json('/api/v2/workers'))['workers'] as Record<string, unknown>[];
      expect(workers).toEqual([
        {
          name: 'w1',
          kind: 'worker',
          labels: ['gpu'],
          slots: 2,
          running: 1,
          load: expect.any(Number) as number,
          version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
          last_heartbeat: expect.stringMatching(/^20.*Z$/) as string,
          problem: null,
        },
      ]);
      const status = await ground.run(['status', '--format', 'json'], { env });
      expect(JSON.parse(status.stdout)).toMatchObject({ running: [{ issue_identifier: 'A-1', host: 'w1' }] });
      const shown = await ground.run(['status'], { env });
      expect(shown.stdout).toMatch(/A-1.*\bw1\b/);
      const metrics = await (await daemon.get('/metrics')).text();
      for (const line of ['svc_host_slots{host="w1"} 2', 'svc_host_runs{host="w1"} 1', 'svc_host_up{host="w1"} 1']) {
        expect(metrics).toContain(line);
      }
      expect(metrics).toMatch(/svc_host_load\{host="w1"\} [\d.]+/);
      const page = (await (await daemon.get('/')).text()).replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
      for (const word of ['Load', 'Version', 'Heard', '1 of 2', 'w1']) expect(page).toContain(word);
      await daemon.record('handoff transition succeeded, releasing claim', { issue_identifier: 'A-1' });
      expect(existsSync(ground.path('w1', 'A-1'))).toBe(true);
      expect(existsSync(ground.path('ws', 'A-1'))).toBe(false);

      await ground.writeIssues([{ id: '2', identifier: 'A-2', title: 'Two', state: 'todo' }]);
      await daemon.record('turn started', { issue_identifier: 'A-2' });
      const standby = await ground.start(['--port', '0'], { env });
      await standby.record('http server listening');
      await eventually(
        () => standby.json('/api/v2/workers'),
        ({ workers: seen }) => (seen as Record<string, unknown>[])[0]?.['running'] === 1,
        'the standby to show the worker',
      );
      daemon.signal('SIGKILL');
      await standby.record('handoff transition succeeded, releasing claim', { issue_identifier: 'A-2' });
      await standby.stop();
      expect((await ground.readIssues())[0]).toMatchObject({ state: 'review' });
    },
  );

  it(
    'keeps its limits over the whole fleet, and gives runs to workers with their labels alone',
    { timeout: 120_000 },
    async () => {
      ground = await createPlayground({ patienceMs: 60_000 });
      const env = { FLEET_DB: await postgres.createDatabase(), PATH: TOOL_PATH };
      await ground.write(
        'WORKFLOW.md',
        fileWorkflow({
          tracker: 'kind: file\nactive_states: [todo, rework]\nterminal_states: [done]\nhandoff_state: review',
          agent: [
            'kind: mock',
            'max_turns: 1',
            'run_on: [big]',
            'max_concurrent_agents: 3',
            'max_concurrent_agents_by_state: { rework: 1 }',
          ].join('\n'),
          mock: 'turn_delay_ms: 1200',
          store: 'url: $FLEET_DB',
        }),
      );
      const states = ['rework', 'rework', 'rework', 'todo', 'todo', 'todo', 'todo', 'todo'];
      await ground.writeIssues(states.map((state, index) => ({ id: `${index}`, identifier: `A-${index}`, title: 'One', state })));
      // Eleven slots, of which six are on workers with the label.
      const workers = [
        ['w1', '3', 'big,gpu'],
        ['w2', '3', 'big'],
        ['w3', '5', 'gpu'],
      ];
      const daemon = await ground.start(['--port', '0'], { env });
      for (const [name = '', slots = '', label = ''] of workers) {
        const args = [
          'worker',
          '--url',
          '$FLEET_DB',
          '--name',
          name,
          '--slots',
          slots,
          '--label',
          label,
          '--root',
          ground.path(name),
        ];
        children.push(spawn(process.execPath, [CLI, ...args], { env, stdio: 'ignore' }));
      }
      const seen: { host?: string; state?: string }[][] = [];
      await eventually(
        async () => {
          seen.push((await daemon.json('/api/v1/state'))['running'] as (typeof seen)[number]);
          return ground.readIssues();
        },
        (issues) => issues.every(({ state }) => state === 'review'),
        'every handoff',
      );
      expect(Math.max(...seen.map((running) => running.length))).toBe(3);
      expect(Math.max(...seen.map((running) => running.filter(({ state }) => state === 'rework').length))).toBe(1);
      expect([...new Set(seen.flat().map(({ host }) => host))].filter(Boolean).toSorted()).toEqual(['w1', 'w2']);
      await daemon.stop();
    },
  );

  it('carries out the tools of their agents, and has them remove workspaces', { timeout: 120_000 }, async () => {
    ground = await createPlayground({ patienceMs: 45_000 });
    const env = { FLEET_DB: await postgres.createDatabase(), PATH: TOOL_PATH };
    await ground.write('agent.cjs', AGENT);
    await chmod(ground.path('agent.cjs'), 0o755);
    await ground.write(
      'WORKFLOW.md',
      fileWorkflow({
        tracker: 'kind: file\nactive_states: [todo]\nterminal_states: [done]\nhandoff_state: review',
        agent: `kind: claude-code\ncommand: [${ground.path('agent.cjs')}]\nmax_turns: 3\nrun_on: []`,
        hooks: `before_remove: echo "$FORAY_ISSUE_IDENTIFIER" > ${ground.path('removed')}`,
        store: 'url: $FLEET_DB',
      }),
    );
    await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'One', state: 'todo' }]);
    const args = [CLI, 'worker', '--url', '$FLEET_DB', '--name', 'w1', '--root', ground.path('w1')];
    const daemon = await ground.start(['--port', '0'], { env });
    // Only the worker knows it.
    children.push(spawn(process.execPath, args, { env: { ...env, ANTHROPIC_API_KEY: 'sk-ant-of-the-worker' }, stdio: 'ignore' }));
    await daemon.record('handoff transition succeeded, releasing claim', { issue_identifier: 'A-1' });
    expect(JSON.parse(await ground.read('w1/A-1/told.json'))).toEqual({
      issue: 'One',
      moved: expect.stringContaining('the issue may be moved to todo, review; not to done') as string,
      other: expect.stringContaining('comment has no argument "issue"') as string,
      comment: '{"posted":true}',
      status: 1,
      finish: expect.stringContaining('needs-human-review') as string,
    });
    const [issue] = await ground.readIssues();
    expect(issue).toMatchObject({ state: 'review' });
    expect(issue?.['comments']).toContainEqual(expect.objectContaining({ body: 'from the worker with [redacted]' }));
    const logs = await ground.run(['logs', 'A-1'], { env });
    expect(logs.stdout).toContain('tool comment: from the worker with [redacted]');

    await ground.writeIssues([{ ...issue, state: 'done' }]);
    await daemon.record('workspace removed', { issue_identifier: 'A-1', workspace: `w1:${ground.path('w1', 'A-1')}` });
    expect(existsSync(ground.path('w1', 'A-1'))).toBe(false);
    expect(await ground.read('removed')).toBe('A-1\n');
    await daemon.stop();
  });

  it('has them remove what they hold also where runs do not go to them any more', { timeout: 120_000 }, async () => {
    ground = await createPlayground({ patienceMs: 45_000 });
    const env = { FLEET_DB: await postgres.createDatabase(), PATH: TOOL_PATH };
    const tracker = 'kind: file\nactive_states: [todo]\nterminal_states: [done]\nhandoff_state: review';
    const workflow = (agent: string): string =>
      fileWorkflow({ tracker, agent: `kind: mock\nmax_turns: 1\n${agent}`, store: 'url: $FLEET_DB' });
    await ground.write('WORKFLOW.md', workflow('run_on: []'));
    await ground.writeIssues([{ id: '1', identifier: 'A-1', title: 'One', state: 'todo' }]);
    const args = [CLI, 'worker', '--url', '$FLEET_DB', '--name', 'w1', '--root', ground.path('w1')];
    const first = await ground.start(['--port', '0'], { env });
    const worker = spawn(process.execPath, args, { env, stdio: 'ignore' });
    children.push(worker);
    await first.record('handoff transition succeeded, releasing claim', { issue_identifier: 'A-1' });
    await first.stop();
    worker.kill('SIGTERM');
    await once(worker, 'exit');
    await ground.write('WORKFLOW.md', workflow(''));
    const [issue] = await ground.readIssues();
    await ground.writeIssues([{ ...issue, state: 'done' }]);

    const second = await ground.start(['--port', '0'], { env });
    await second.record('workspace could not be removed', { issue_identifier: 'A-1' });
    expect(existsSync(ground.path('w1', 'A-1'))).toBe(true);
    children.push(spawn(process.execPath, args, { env, stdio: 'ignore' }));
    await second.record('workspace removed', { issue_identifier: 'A-1', workspace: `w1:${ground.path('w1', 'A-1')}` });
    expect(existsSync(ground.path('w1', 'A-1'))).toBe(false);
    await second.stop();
  });

  it('is told by doctor that the role of its database may not create what it needs', async () => {
    ground = await createPlayground();
    const url = await postgres.createDatabase();
    await postgres.query('CREATE ROLE narrow LOGIN', url);
    const env = { FLEET_DB: url.replace('postgres://postgres@', 'postgres://narrow@'), PATH: TOOL_PATH };
    await ground.writeIssues([]);
    const databaseWith = async (agent: string) => {
      await ground.write('WORKFLOW.md', fileWorkflow({ agent, store: 'url: $FLEET_DB' }));
      const { stdout } = await ground.run(['doctor', '--format', 'json'], { env });
      const { findings } = JSON.parse(stdout) as { findings: { check: string }[] };
      return findings.find(({ check }) => check === 'database');
    };
    const lacking = (schema: string) => expect.stringContaining(`may not create the schema ${schema}`) as string;
    expect(await databaseWith('kind: mock')).toMatchObject({ status: 'error', message: lacking('foray') });
    await postgres.query('CREATE SCHEMA foray AUTHORIZATION narrow', url);
    expect(await databaseWith('kind: mock')).toMatchObject({ status: 'ok' });
    const runOn = 'kind: mock\nrun_on: []';
    expect(await databaseWith(runOn)).toMatchObject({ status: 'error', message: lacking('graphile_worker') });
    const name = new URL(url).pathname.slice(1);
    await postgres.query(`GRANT CREATE ON DATABASE ${name} TO narrow`, url);
    expect(await databaseWith(runOn)).toMatchObject({ status: 'ok' });
  });
});
