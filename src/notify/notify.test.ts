import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { empty, startServer, text } from '../../test/support/http-server.ts';
import { faultOf, type Fault } from '../domain/model/fault.ts';
import { NO_ISSUE, NOTIFICATION_EVENTS, type NotificationEntry, type NotificationTarget } from '../domain/model/notification.ts';
import type { IssueRef } from '../domain/model/issue.ts';
import type { Notifier } from '../ports/events.ts';
import { createNotifier } from './index.ts';
import { bodyOf } from './message.ts';

const never = new AbortController().signal;
const PATH = '/services/T000/B000/secretpartofit?key=alsosecret';
const ISSUE = { id: '1', identifier: 'A-1', displayIdentifier: null, title: 'Hi', url: 'https://tracker/1', state: 'review' };

function entryWith(line: string, issue: IssueRef = ISSUE): NotificationEntry {
  const page = issue.id === '' ? '/' : '/issues/A-1';
  const write = {
    kind: 'notification',
    target: 'HOOK',
    event: 'handoff',
    over: false,
    at: 0,
    text: line,
    page,
    error: '',
  } as const;
  return { id: 'abc-n1', issue, write, tries: 0, dueAt: 0 };
}

function notifierAt(origin: string, parts: Partial<NotificationTarget> = {}): Notifier {
  const target = {
    name: 'HOOK',
    url: `${origin}${PATH}`,
    format: 'json',
    on: NOTIFICATION_EVENTS,
    secret: null,
    ...parts,
  } as const;
  return createNotifier([target], {
    version: '1.2.3',
    clock: { now: () => 0 },
    dashboard: () => 'https://foray.test/',
    maskSecrets: (said) => said.replaceAll('hunter2', '[redacted]'),
  });
}

async function failureAt(origin: string): Promise<Fault> {
  return faultOf(
    await notifierAt(origin)
      .send(entryWith('x'), never)
      .catch((error: unknown) => error),
  );
}

describe('a message', () => {
  it('says in JSON what happened, where to look, and is signed over its bytes', async ({ onTestFinished }) => {
    const server = await startServer(() => empty(204));
    onTestFinished(() => server.close());
    const notifier = notifierAt(server.url, { secret: 'shared' });
    const issue = { ...ISSUE, title: 'x'.repeat(100_000) };
    await notifier.send(entryWith('A-1 is finished, the password is hunter2', issue), never);
    const [request] = server.requests;
    expect(request?.json()).toEqual({
      id: 'abc-n1',
      event: 'handoff',
      over: false,
      at: '1970-01-01T00:00:00.000Z',
      text: 'A-1 is finished, the password is [redacted]',
      issue: { id: '1', identifier: 'A-1', title: `${'x'.repeat(499)}…`, url: 'https://tracker/1', state: 'review' },
      url: 'https://foray.test/issues/A-1',
    });
    const signature = createHmac('sha256', 'shared')
      .update(request?.body ?? '')
      .digest('hex');
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'svc/1.2.3',
      'x-foray-event': 'handoff',
      'x-foray-delivery': 'abc-n1',
      'x-foray-signature-256': `sha256=${signature}`,
    });
    expect(`${request?.path}?${request?.query.toString()}`).toBe(PATH);
  });

  it('cannot call a channel or hide a link in Slack', async ({ onTestFinished }) => {
    const server = await startServer(() => text('ok'));
    onTestFinished(() => server.close());
    const notifier = notifierAt(server.url, { format: 'slack' });
    await notifier.send(entryWith('A-1 "<!channel> <https://evil|click> & more"'), never);
    await notifier.send(entryWith('the tracker is back', NO_ISSUE), never);
    expect(server.requests.map((request) => request.json())).toEqual([
      { text: 'A-1 "&lt;!channel&gt; &lt;https://evil|click&gt; &amp; more" <https://foray.test/issues/A-1>' },
      { text: 'the tracker is back <https://foray.test/>' },
    ]);
    expect(server.requests[0]?.headers).not.toHaveProperty('x-foray-signature-256');
  });
});

it.each([
  ['https://forge.test/1', ' <https://forge.test/1>'],
  [
    'https://evil.test/|click> <!channel> \u202E<https://evil.test',
    ' <https://evil.test/%7Cclick%3E%20%3C!channel%3E%20%E2%80%AE%3Chttps://evil.test>',
  ],
  ['!channel', ''],
  ['mailto:a@b.test', ''],
  ['', ''],
])('the address of an issue, %j, is a link of its own in Slack or none', (url, shown) => {
  expect(bodyOf('slack', entryWith('done'), url)).toEqual({ text: `done${shown}` });
});

describe('a receiver that does not take it', () => {
  it.each([
    [404, {}, /answered 404: .*new hook/, undefined],
    [503, {}, /answered 503$/, undefined],
    [429, { 'retry-after': '7' }, /answered 429$/, 7_000],
    [302, { location: 'https://elsewhere/' }, /answered 302: it moved/, undefined],
  ] as const)('by %i is told without its address', async (status, headers, says, retryAfterMs) => {
    const server = await startServer(({ path }) => text(`Cannot POST ${path}`, status, headers));
    const fault = await failureAt(server.url);
    await server.close();
    expect(fault.message).toMatch(says);
    expect(fault.message).not.toMatch(/127\.0\.0\.1|secretpart|T000/);
    expect(fault.retryAfterMs).toBe(retryAfterMs);
  });

  it('because it is not there is told without its address', async () => {
    const { message, kind } = await failureAt('http://127.0.0.1:1');
    expect(message).toBe('notification: the receiver could not be reached (ECONNREFUSED)');
    expect(kind).toBe('notification_error');
  });
});
