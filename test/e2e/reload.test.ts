import { createHmac } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow, type Playground, type RunningDaemon } from '../support/daemon.ts';
import { rawRequest } from '../support/raw-request.ts';
import { buildStage, stageWorkflow } from './trackers/stage.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

/** A forge is watched beside the tracker, so that its webhooks are taken. */
const REACTIONS = {
  github: 'api_key: forge-credential\nproject: acme/shop\nendpoint: http://127.0.0.1:9',
  reactions: 'projects: [acme/shop]\nci_failure: { provider: github }',
};
const ISSUE = { id: '1', identifier: 'A-1', title: 'First', state: 'later' };

describe('an edit of the workflow file', () => {
  it('is applied without a restart: states, agent and tracker', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow());
    await ground.writeIssues([ISSUE]);
    const daemon = await ground.start();
    await daemon.record('tick completed');
    const tracker = 'kind: file\nactive_states: [later]\nterminal_states: [done]\nhandoff_state: review';
    await ground.write(
      'WORKFLOW.md',
      fileWorkflow({ tracker, agent: 'kind: mock\nmax_turns: 1', mock: 'input_tokens_per_turn: 7' }),
    );
    await daemon.record('workflow reloaded');
    await daemon.record('worker exiting', { turns_completed: '1' });
    expect((await daemon.json('/api/v1/state'))['agent_totals']).toMatchObject({ input_tokens: 7 });
    await daemon.stop();
  });

  it('after which nothing ends the work on an issue is warned of, as is such a start', async () => {
    const tracker = 'kind: file\nactive_states: [later]\nterminal_states: [done]';
    const endless = fileWorkflow({ tracker });
    await ground.write('WORKFLOW.md', endless);
    await ground.writeIssues([]);
    const warnings = (records: RunningDaemon['records']) =>
      records().filter(({ msg }) => msg === 'nothing ends the work on an issue');
    const daemon = await ground.start();
    await daemon.record('tick completed');
    expect(warnings(daemon.records)).toMatchObject([
      { level: 'WARN', remedy: expect.stringContaining('tracker.handoff_state') as string },
    ]);
    await ground.write('WORKFLOW.md', fileWorkflow({ tracker: `${tracker}\nhandoff_state: review` }));
    await daemon.record('workflow reloaded');
    expect(warnings(daemon.records)).toHaveLength(1);
    await ground.write('WORKFLOW.md', endless);
    await eventually(
      async () => warnings(daemon.records),
      (found) => found.length === 2,
      'a warning after the edit',
    );
    await daemon.stop();
    expect(await ground.run(['validate', '--strict'])).toMatchObject({ code: 0, stderr: '' });
    expect((await ground.run(['--dry-run'])).stderr).toContain('msg="nothing ends the work on an issue"');
  });

  it('to another tracker lets figures since the start go on', async () => {
    const measured = (file: string): string =>
      fileWorkflow({ file: `path: ${file}`, agent: 'kind: mock\nmax_turns: 1', mock: 'input_tokens_per_turn: 7' });
    await ground.write('WORKFLOW.md', measured('old.json'));
    for (const file of ['old.json', 'new.json']) await ground.write(file, JSON.stringify([{ ...ISSUE, state: 'todo' }]));
    const daemon = await ground.start();
    await daemon.record('handoff transition succeeded, releasing claim');
    const before = (await daemon.json('/readyz'))['uptime_seconds'] as number;
    await ground.write('WORKFLOW.md', measured('new.json'));
    await daemon.record('workflow reloaded');
    const totals = await eventually(
      async () => (await daemon.json('/api/v1/state'))['agent_totals'] as Record<string, number>,
      ({ input_tokens }) => input_tokens !== 7,
      'the session of the other tracker to count',
    );
    expect(totals).toMatchObject({ input_tokens: 14 });
    expect((await daemon.json('/readyz'))['uptime_seconds']).toBeGreaterThan(before);
    await daemon.stop();
  });

  it('that is broken is reported once, and the last good one stays in force', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow());
    await ground.writeIssues([ISSUE]);
    const daemon = await ground.start();
    await ground.write('WORKFLOW.md', '---\ntracker: [\n---\n');
    const rejected = await daemon.record('workflow edit rejected, the last good one stays in force');
    expect(rejected['problems']).toContain('workflow.yaml');
    expect(rejected).toMatchObject({ check: 'workflow.yaml', line: expect.any(String), column: expect.any(String) });
    await ground.writeIssues([{ ...ISSUE, state: 'todo' }]);
    await daemon.record('handoff transition succeeded, releasing claim');
    expect((await daemon.get('/readyz')).status).toBe(200);
    const finished = await daemon.stop();
    expect(finished.records.filter((record) => record['msg']?.startsWith('workflow edit rejected'))).toHaveLength(1);
  });
});

describe('an edit to a tracker that is out of reach', () => {
  const away = ['kind: github', 'project: acme/app', 'endpoint: http://127.0.0.1:9', 'api_key: token', 'active_states: [todo]'];

  it('leaves the last good file in force, and gives way to a newer one', { timeout: 60_000 }, async () => {
    await ground.write('WORKFLOW.md', fileWorkflow());
    await ground.writeIssues([]);
    const daemon = await ground.start();
    await daemon.record('tick completed');
    await ground.write('WORKFLOW.md', fileWorkflow({ tracker: [...away, 'terminal_states: [done]'].join('\n') }));
    const rejected = await daemon.record('workflow edit rejected, the last good one stays in force');
    expect(rejected['problems']).toContain('tracker_transport_error');
    await ground.writeIssues([{ ...ISSUE, state: 'todo' }]);
    await daemon.record('handoff transition succeeded, releasing claim');
    await ground.write('WORKFLOW.md', fileWorkflow({ agent: 'kind: mock\nmax_turns: 2' }));
    await daemon.record('workflow reloaded');
    expect((await daemon.json('/api/v2/workflow'))['rejected']).toBeNull();
    const { records } = await daemon.stop();
    expect(records.filter(({ msg }) => msg === 'workflow reloaded')).toHaveLength(1);
    expect(records.filter(({ msg }) => msg?.startsWith('poll failed'))).toEqual([]);
  });
});

describe('an edit that the tracker does not take', () => {
  it('is rejected with its reason, and the last good file goes on', { timeout: 60_000 }, async () => {
    const stage = await buildStage('wfboard', ground);
    const good = stageWorkflow(stage);
    await ground.write('WORKFLOW.md', good);
    const daemon = await ground.start(['--port', '0'], { env: stage.env });
    await daemon.record('tick completed', { candidates: '0' });
    await ground.write('WORKFLOW.md', good.replace('active_states: [', 'active_states: [Nowhere, '));
    await daemon.record('workflow edit rejected, the last good one stays in force');
    expect((await daemon.json('/readyz'))['workflow_error']).toContain('Nowhere');
    expect(await daemon.json('/api/v2/workflow')).toMatchObject({ rejected: { reason: expect.stringContaining('Nowhere') } });
    await stage.add({ title: 'Goes on', state: stage.states.todo });
    await daemon.record('handoff transition succeeded, releasing claim');
    await daemon.stop();
    await stage.close();
  });
});

describe('an edit of who may come in', () => {
  const ENV = { OLD_DOOR: 'the-old-token', NEW_DOOR: 'the-new-token', OLD_HOOK: 'old-between-us', NEW_HOOK: 'new-between-us' };
  const RESTART = 'a changed setting takes effect at the next start';

  async function startWith(server: string, sections: Readonly<Record<string, string>> = {}): Promise<RunningDaemon> {
    await ground.writeIssues([ISSUE]);
    await ground.write('WORKFLOW.md', fileWorkflow({ ...sections, server }));
    const daemon = await ground.start(undefined, { env: ENV });
    await daemon.record('tick completed');
    return daemon;
  }

  /** Waits until the edit is in force. */
  async function edit(daemon: RunningDaemon, server: string, sections: Readonly<Record<string, string>> = {}): Promise<void> {
    const count = () => daemon.records().filter(({ msg }) => msg === 'workflow reloaded').length;
    const before = count();
    await ground.write('WORKFLOW.md', fileWorkflow({ ...sections, server }));
    await eventually(count, (now) => now > before, 'the edit');
  }

  const statusOf = async ({ url }: RunningDaemon, headers: Readonly<Record<string, string>>): Promise<number> =>
    (await rawRequest(`${url}/api/v1/state`, { headers })).status;
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it('replaces the token at once: bearers, logins and open event streams of the old one end', async () => {
    const daemon = await startWith('token: $OLD_DOOR');
    const login = await rawRequest(`${daemon.url}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `token=${ENV.OLD_DOOR}`,
    });
    const cookie = login.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    expect(await statusOf(daemon, { cookie })).toBe(200);
    const stream = await daemon.get('/api/v2/events?names=daemon:drain:started', { headers: bearer(ENV.OLD_DOOR) });
    const ended = stream.text();

    await edit(daemon, 'token: $OLD_DOOR\npublic_url: https://foray.example.org');
    const stillOpen = await Promise.race([ended.then(() => 'ended'), new Promise((resolve) => setTimeout(resolve, 200, 'open'))]);
    expect(stillOpen, 'an edit of something else').toBe('open');

    await edit(daemon, 'token: $NEW_DOOR');
    expect(await statusOf(daemon, bearer(ENV.OLD_DOOR))).toBe(401);
    expect(await statusOf(daemon, { cookie })).toBe(401);
    expect(await statusOf(daemon, bearer(ENV.NEW_DOOR))).toBe(200);
    await ended;
    const { records } = await daemon.stop();
    expect(records.filter(({ msg }) => msg === RESTART)).toEqual([]);
  });

  it('replaces hosts and the secret of webhooks', async () => {
    const daemon = await startWith('allowed_hosts: [old.example]\nwebhooks: { secret: $OLD_HOOK }', REACTIONS);
    await edit(daemon, 'allowed_hosts: [new.example]\nwebhooks: { secret: $NEW_HOOK }', REACTIONS);
    expect(await statusOf(daemon, { host: 'new.example' })).toBe(200);
    expect(await statusOf(daemon, { host: 'old.example' })).toBe(403);
    const hookStatus = async (secret: string): Promise<number> => {
      const signature = `sha256=${createHmac('sha256', secret).update('{}').digest('hex')}`;
      const headers = { 'x-hub-signature-256': signature };
      return (await rawRequest(`${daemon.url}/hooks/github`, { method: 'POST', headers, body: '{}' })).status;
    };
    expect(await hookStatus(ENV.NEW_HOOK)).toBe(202);
    expect(await hookStatus(ENV.OLD_HOOK)).toBe(401);
    await edit(daemon, 'port: 1', REACTIONS);
    expect(await hookStatus(ENV.NEW_HOOK)).toBe(404);
    const { records } = await daemon.stop();
    expect(records.filter(({ msg }) => msg === RESTART)).toMatchObject([{ keys: 'server.port' }]);
  });

  it('keeps the token while others can reach the server, whatever the file says by then', async () => {
    const daemon = await startWith('host: 0.0.0.0\ntoken: $OLD_DOOR');
    await edit(daemon, '');
    expect(await statusOf(daemon, {})).toBe(401);
    expect(await statusOf(daemon, bearer(ENV.OLD_DOOR))).toBe(200);
    expect(await daemon.record(RESTART)).toMatchObject({ keys: 'server.host, server.token' });
    await edit(daemon, 'token: $NEW_DOOR');
    expect(await statusOf(daemon, bearer(ENV.OLD_DOOR))).toBe(401);
    expect(await statusOf(daemon, bearer(ENV.NEW_DOOR))).toBe(200);
    await daemon.stop();
  });

  it('says that a setting waits for the next start, and nothing of an edit back to the one in force', async () => {
    const daemon = await startWith('');
    await edit(daemon, 'host: 127.0.0.2\ntoken: $OLD_DOOR', { logging: 'level: debug' });
    expect(await daemon.record(RESTART)).toMatchObject({ keys: 'server.host, logging' });
    await edit(daemon, '');
    const { records } = await daemon.stop();
    expect(records.filter(({ msg }) => msg === RESTART)).toHaveLength(1);
  });

  it('hides the new secrets from agents, and the old ones still', async () => {
    await ground.write('agent.sh', '#!/bin/sh\necho "it is the-new-token" >&2\nenv > "$HOME/seen"\nexit 1\n');
    await chmod(ground.path('agent.sh'), 0o755);
    const agent = { agent: `kind: claude-code\ncommand: [${ground.path('agent.sh')}]` };
    const daemon = await startWith('token: $OLD_DOOR', agent);
    await edit(daemon, 'token: $NEW_DOOR', agent);
    await ground.writeIssues([{ ...ISSUE, state: 'todo' }]);
    const seen = await eventually(
      () => ground.read('seen').catch(() => ''),
      (text) => text !== '',
      'a session',
    );
    expect(seen).toContain('HOME=');
    expect(seen).not.toMatch(/_DOOR|-token/);
    const { stderr } = await daemon.stop();
    expect(stderr).not.toContain(ENV.NEW_DOOR);
  });
});

describe('a tracker file that breaks for a while', () => {
  it('is named with its place, nothing is lost, and the next good read works', async () => {
    await ground.write('WORKFLOW.md', fileWorkflow());
    await ground.write('issues.json', '[\n  {"id": "1",\n');
    const daemon = await ground.start();
    const failed = await daemon.record('poll failed, nothing dispatched until the next one');
    expect(failed['error']).toMatch(/tracker_payload_error.*issues\.json.*line \d+/);
    expect((await daemon.get('/livez')).status).toBe(200);
    await ground.writeIssues([{ ...ISSUE, state: 'todo' }]);
    await daemon.record('handoff transition succeeded, releasing claim');
    await daemon.stop();
  });

  it.each(['..', '.', '../../etc', 'a/b', 'ä ö', '-rf', 'x'.repeat(300)])(
    'an issue called %j stays inside the workspace root or is refused',
    async (identifier) => {
      await ground.write('WORKFLOW.md', fileWorkflow());
      await ground.writeIssues([{ id: '1', identifier, title: 'Odd', state: 'todo' }]);
      const daemon = await ground.start();
      const prepared = await eventually(
        () => daemon.records().find((record) => ['workspace prepared', 'retry scheduled'].includes(record['msg'] ?? '')),
        (record) => record !== undefined,
        'an outcome',
      );
      if (prepared?.['workspace']) expect(prepared['workspace'].startsWith(`${ground.path('ws')}/`)).toBe(true);
      else expect(prepared?.['error']).toContain('workspace');
      await daemon.stop();
    },
  );
});
