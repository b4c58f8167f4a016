import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow } from '../support/daemon.ts';
import { empty, hang, startServer, type RecordedRequest } from '../support/http-server.ts';

const PATH = '/services/T01/B02/partthatnobodymaysee';
const SECRET = 'what-we-share-with-the-receiver';

/** A receiver that refuses for as long as it is told to, and is slow when it takes something. */
async function startReceiver() {
  const taken: RecordedRequest[] = [];
  let isUp = false;
  const server = await startServer(async (request) => {
    if (!isUp) return empty(503, { 'retry-after': '1' });
    await delay(400);
    taken.push(request);
    return empty(204);
  });
  return {
    url: `${server.url}${PATH}`,
    refused: () => server.requests.length - taken.length,
    taken,
    setUp: (up: boolean) => void (isUp = up),
    close: () => server.close(),
  };
}

interface Message {
  readonly event: string;
  readonly over: boolean;
  readonly text: string;
}

it(
  'a receiver that fails, is slow and comes back is told everything once, over kill -9 too',
  { timeout: 60_000 },
  async (test) => {
    const ground = await createPlayground();
    const receiver = await startReceiver();
    test.onTestFinished(async () => {
      await ground.cleanup();
      await receiver.close();
    });
    const issue = (id: string) => ({ id, identifier: `A-${id}`, title: `Issue ${id}`, state: 'todo' });
    await ground.writeIssues([issue('1')]);
    const sections = {
      agent: 'kind: mock\nmax_turns: 1',
      server: 'public_url: https://foray.example.org/',
      notifications: '- { url: $HOOK, secret: $SHARED, on: [handoff, paused] }',
    };
    await ground.write('WORKFLOW.md', fileWorkflow(sections));
    const env = { HOOK: receiver.url, SHARED: SECRET };
    const first = await ground.start(['--port', '0'], { env });
    const failed = await first.record('notification failed, it is tried again', { target: 'HOOK' });
    expect(failed['error']).toBe('notification: the receiver answered 503');
    await ground.writeIssues([...(await ground.readIssues()), issue('2')]);
    await first.record('handoff transition succeeded, releasing claim', { issue_id: '2' });
    expect((await ground.run(['pause', '--reason', 'a release'], { env })).code).toBe(0);
    const failing = { target: 'HOOK', format: 'json', on: ['handoff', 'paused'], waiting: 3 };
    expect(await first.json('/api/v2/notifications')).toMatchObject({
      notifications: [{ ...failing, failing: { error: 'notification: the receiver answered 503' } }],
    });
    const pages = await Promise.all(
      ['/', '/history', '/issues/A-1', '/api/v1/state', '/api/v2/notifications', '/api/v2/workflow', '/metrics'].map(
        async (page) => (await first.get(page)).text(),
      ),
    );
    expect(pages[0]).toContain('HOOK does not hear from us');
    expect(pages.at(-1)).toContain('svc_notifications_waiting{target="HOOK"} 3');
    first.signal('SIGKILL');
    const told = (await first.exited).stderr;
    // What it sent in its last moment has arrived by then.
    await delay(200);

    receiver.setUp(true);
    const second = await ground.start(['--port', '0'], { env });
    await eventually(
      () => receiver.taken.length,
      (count) => count >= 3,
      'the messages',
    );
    await eventually(
      async () => JSON.stringify(await second.json('/api/v2/notifications')),
      (answer) => answer.includes('"waiting":0,"failing":null'),
      'an empty queue',
    );
    const stopped = await second.stop();
    expect(receiver.refused()).toBeGreaterThan(0);
    expect(receiver.taken.map((request) => request.json())).toMatchObject([
      { event: 'handoff', issue: { identifier: 'A-1' }, url: 'https://foray.example.org/issues/A-1' },
      { event: 'handoff', issue: { identifier: 'A-2' } },
      { event: 'paused', issue: null, text: expect.stringContaining('(a release)') as string, url: 'https://foray.example.org/' },
    ]);
    expect(new Set(receiver.taken.map(({ headers }) => headers['x-foray-delivery'])).size).toBe(3);
    for (const { headers, body } of receiver.taken) {
      const signature = createHmac('sha256', SECRET).update(body).digest('hex');
      expect(headers['x-foray-signature-256']).toBe(`sha256=${signature}`);
    }
    const everything = [told, stopped.stderr, ...pages].join('\n');
    for (const hidden of [receiver.url, PATH, SECRET, 'partthatnobodymaysee']) expect(everything).not.toContain(hidden);
  },
);

it('a receiver that hangs does not hold up the stop, and hears it after the next start', { timeout: 60_000 }, async (test) => {
  const ground = await createPlayground();
  let isUp = false;
  const receiver = await startServer(() => (isUp ? empty(204) : hang()));
  test.onTestFinished(async () => {
    await ground.cleanup();
    await receiver.close();
  });
  await ground.writeIssues([]);
  const sections = { agent: 'kind: mock', server: 'public_url: https://foray.example.org/', notifications: '- { url: $HOOK }' };
  await ground.write('WORKFLOW.md', fileWorkflow(sections));
  const env = { HOOK: receiver.url };
  const first = await ground.start(['--port', '0'], { env });
  expect((await ground.run(['pause'], { env })).code).toBe(0);
  await receiver.arrived(1);
  const began = performance.now();
  const { code, stderr } = await first.stop();
  expect(performance.now() - began).toBeLessThan(10_000);
  expect(code).toBe(0);
  expect(stderr).not.toContain('stopping without what did not end in time');
  isUp = true;
  const second = await ground.start(['--port', '0'], { env });
  await receiver.arrived(2);
  const [before, after] = receiver.requests;
  expect(after?.headers['x-foray-delivery']).toBe(before?.headers['x-foray-delivery']);
  await second.stop();
});

it(
  'a pause and an outage are told once each, and when they are over, whatever daemon runs',
  { timeout: 60_000 },
  async (test) => {
    const ground = await createPlayground();
    const receiver = await startReceiver();
    receiver.setUp(true);
    test.onTestFinished(async () => {
      await ground.cleanup();
      await receiver.close();
    });
    await ground.writeIssues([]);
    await ground.write('WORKFLOW.md', fileWorkflow({ notifications: '- { url: $HOOK, on: [paused, down] }' }));
    const env = { HOOK: receiver.url };
    // A kill before an answer is noted leads to a second message with the same id.
    const told = () => [
      ...new Map(receiver.taken.map((request) => [request.headers['x-foray-delivery'], request.json() as Message])).values(),
    ];
    const heard = (count: number) =>
      eventually(
        () => told().length,
        (length) => length >= count,
        `${count} messages`,
      );

    expect((await ground.run(['pause', '--reason', 'night'], { env })).code).toBe(0);
    const first = await ground.start(['--port', '0'], { env });
    await heard(1);
    await ground.write('issues.json', '[{');
    await heard(2);
    first.signal('SIGKILL');
    await first.exited;
    expect((await ground.run(['resume'], { env })).code).toBe(0);

    const second = await ground.start(['--port', '0'], { env });
    await heard(3);
    const failures = () =>
      second.records().filter(({ msg }) => msg === 'poll failed, nothing dispatched until the next one').length;
    await eventually(failures, (count) => count > 3, 'an outage that goes on');
    await second.stop();
    await ground.writeIssues([]);
    const third = await ground.start(['--port', '0'], { env });
    await heard(4);
    await third.stop();
    expect(told().map(({ event, over, text }) => [event, over, text])).toEqual([
      ['paused', false, expect.stringMatching(/^Foray was paused by .+ \(night\)/)],
      ['down', false, expect.stringMatching(/^the tracker could not be read 3 times in a row/)],
      ['paused', true, 'Foray dispatches again, resumed while it was stopped'],
      ['down', true, 'the tracker can be read again'],
    ]);
  },
);
