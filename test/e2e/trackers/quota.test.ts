import { afterEach, beforeEach, expect, it } from 'vitest';
import { startFakeLinear, type FakeLinear } from '../../fakes/linear.ts';
import { createPlayground, eventually, workflowText, type Playground, type RunningDaemon } from '../../support/daemon.ts';

const WAITS = 'poll waits for the quota of the tracker';
const KEY = { LINEAR_KEY: 'lin_api_fake0123456789' };
const RESET = Date.now() + 30 * 60_000;

let ground: Playground;
let linear: FakeLinear;
let daemon: RunningDaemon;
beforeEach(async () => {
  ground = await createPlayground();
  linear = await startFakeLinear({ apiKey: KEY.LINEAR_KEY });
  const tracker = [
    'kind: linear',
    `endpoint: ${linear.url}`,
    'api_key: $LINEAR_KEY',
    `project: ${linear.project}`,
    'active_states: [Todo]',
    'terminal_states: [Done]',
  ].join('\n');
  const sections = { tracker, agent: 'kind: mock', mock: 'turn_delay_ms: 600000', polling: 'interval_ms: 100' };
  await ground.write('WORKFLOW.md', workflowText(sections));
  linear.addIssue({ title: 'Runs', state: 'Todo' });
  daemon = await ground.start(['--port', '0'], { env: KEY });
  await daemon.record('turn started');
});
afterEach(async () => {
  await daemon.stop();
  await linear.close();
  await ground.cleanup();
});

const refresh = () => daemon.get('/api/v1/refresh', { method: 'POST' });
const say = (...args: readonly string[]) => ground.run([...args, 'WORKFLOW.md'], { env: KEY });

it('polls that wait for the quota are told by status and explain, and come when a person asks', async () => {
  linear.allow({ requests: 200, resetAt: RESET });
  const { until } = await daemon.record(WAITS);
  const second = linear.addIssue({ title: 'Waits', state: 'Todo' });
  const message = expect.stringMatching(/^the tracker's quota "requests" cannot pay for a poll: 200 of 1500 are left/) as string;

  const status = await eventually(
    async () => JSON.parse((await say('status', '--format', 'json')).stdout) as { readonly problems: readonly object[] },
    ({ problems }) => problems.length > 0,
    'the quota in the status',
  );
  expect(status.problems).toMatchObject([{ what: 'tracker_quota', message, next_try_at: until }]);
  expect((await say('status')).stdout).toMatch(/^PROBLEM \(tracker_quota\) since .*200 of 1500 are left.*; polls wait until \d/m);

  const explained = await say('explain', second.identifier, '--format', 'json');
  const held = { would_dispatch: false, reason: 'tracker_quota', detail: message, until };
  expect([explained.code, JSON.parse(explained.stdout)]).toMatchObject([1, [held]]);

  expect((await refresh()).status).toBe(202);
  await daemon.record('turn started', { issue_identifier: second.identifier });
  expect(await daemon.json('/readyz')).toHaveProperty('poll_postponed');
});

it('where nothing is left, a refresh ends the session of an issue that was finished', async () => {
  linear.allow({ requests: 0, resetAt: RESET });
  await daemon.record(WAITS);
  const lists = () => linear.requests.filter(({ body }) => body.includes('query Issues(')).length;
  const before = lists();
  linear.editIssue('ENG-1', { state: 'Done' });
  await refresh();
  await daemon.record('worker exiting', { exit_kind: 'cancelled' });
  expect(lists()).toBe(before);
});
