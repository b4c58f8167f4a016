import { afterEach, describe, expect, it } from 'vitest';
import type { FakeJira, FakeJiraOptions } from '../../../test/fakes/jira.ts';
import { startFakeJira } from '../../../test/fakes/jira.ts';
import { failureOf, never, openTracker } from '../../../test/fakes/jira/connect.ts';
import { empty, hang, json, reset, text } from '../../../test/support/http-server.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';

const running: FakeJira[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function connect(changes: Partial<TrackerSettings> = {}, options: FakeJiraOptions = {}) {
  const fake = await startFakeJira(options);
  running.push(fake);
  return { fake, ...openTracker(fake, changes) };
}

describe('preflight', () => {
  it('is one read of the first candidates', async () => {
    const { fake, tracker, records } = await connect({}, { maxPageSize: 1 });
    fake.addIssue();
    fake.addIssue();
    await tracker.preflight?.(never);
    expect(fake.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /rest/api/3/search/jql']);
    expect(fake.requests[0]?.query.get('jql')).toBe(
      'project = "ABC" AND status IN ("Backlog", "In Progress") ORDER BY priority ASC, created ASC',
    );
    expect(records).toEqual([]);
    expect(await tracker.fetchCandidateIssues(never)).toHaveLength(2);
    expect(fake.requests).toHaveLength(2);
  });

  it('proves account and project without active states, too', async () => {
    const { fake, tracker } = await connect({ activeStates: [] });
    await tracker.preflight?.(never);
    expect(fake.requests[0]?.query.get('jql')).toBe('project = "ABC" ORDER BY priority ASC, created ASC');
  });

  it('may fail for a site that is only away, unless it must answer', async () => {
    const { fake, tracker } = await connect();
    for (let tries = 0; tries < 8; tries += 1) fake.failNext('GET /search/jql', empty(502));
    await tracker.preflight?.(never);
    const error = await failureOf(tracker.preflight?.(never, { mustAnswer: true }) ?? Promise.resolve());
    expect(error.kind).toBe('tracker_transport_error');
  });

  it.each([
    ['refused', 'check tracker.api_key'],
    ['denied', 'logging in through a browser'],
    ['anonymous', 'check tracker.api_key'],
  ] as const)('a login that is %s ends start-up', async (how, words) => {
    const { fake, tracker } = await connect();
    fake.rejectLogins(how);
    const error = await failureOf(tracker.preflight?.(never) ?? Promise.resolve());
    expect(error.kind).toBe('tracker_auth_error');
    expect(error.message).toContain(words);
    expect(fake.requests).toHaveLength(1);
  });

  it.each([
    [401, 'tracker_auth_error', 'check tracker.api_key'],
    [403, 'tracker_auth_error', 'check its project permissions'],
    [404, 'tracker_not_found', 'check tracker.endpoint'],
  ])('%d ends start-up with %s and a remedy', async (status, kind, words) => {
    const { fake, tracker } = await connect();
    fake.failNext('GET /search/jql', empty(status));
    const error = await failureOf(tracker.preflight?.(never) ?? Promise.resolve());
    expect(error.message).toContain(`tracker: ${kind}: GET /rest/api/3/search/jql: status ${status}; `);
    expect(error.message).toContain(words);
    expect(error.retryable).toBe(false);
  });

  it('an unknown project ends start-up', async () => {
    const { tracker } = await connect({ project: 'NOPE' });
    const error = await failureOf(tracker.preflight?.(never) ?? Promise.resolve());
    expect(error.kind).toBe('tracker_payload_error');
    expect(error.message).toContain("'NOPE' does not exist");
    expect(error.message).toContain('check tracker.project');
  });

  it('an unknown state is only reported: the first poll reports it again', async () => {
    const { fake, tracker, records } = await connect({ activeStates: ['Nowhere'] });
    fake.failNext('GET /statuses', json([]));
    await tracker.preflight?.(never);
    expect(records.map(({ message }) => message)).toEqual(['tracker preflight failed for now, starting all the same']);
    expect(records[0]?.attributes.error).toContain("'Nowhere' does not exist");
  });

  it.each<[string, Partial<TrackerSettings>, string]>([
    ['an unknown state', { activeStates: ['Nowhere'] }, '"Backlog"'],
    ['a filter that is none', { queryFilter: 'labels = = x' }, 'tracker.query_filter'],
  ])('%s does not replace what is in force', async (_, changes, words) => {
    const { fake, tracker } = await connect(changes);
    if (changes.queryFilter) fake.failNext('GET /search/jql', json({ errorMessages: ['Error in the JQL Query'] }, 400));
    const error = await failureOf(tracker.preflight?.(never, { mustAnswer: true }) ?? Promise.resolve());
    expect(error).toMatchObject({ kind: 'tracker_payload_error', retryable: false, status: 400 });
    expect(error.message).toContain(words);
  });

  it.each([
    ['a server error', () => empty(503)],
    ['a broken connection', () => reset()],
  ])('%s is tried again', async (_, reply) => {
    const { fake, tracker, records } = await connect();
    for (let n = 0; n < 3; n += 1) fake.failNext('GET /search/jql', reply());
    await tracker.preflight?.(never);
    expect(fake.requests).toHaveLength(4);
    expect(records.map(({ message }) => message)).toEqual(['the tracker cannot be read yet, trying again']);
  });

  it('a site that stays away does not end start-up', async () => {
    const { fake, tracker, records } = await connect();
    for (let n = 0; n < 4; n += 1) fake.failNext('GET /search/jql', empty(502));
    await tracker.preflight?.(never);
    expect(records).toMatchObject([
      { level: 'warn', message: 'the tracker cannot be read yet, trying again' },
      { level: 'warn', message: 'tracker preflight failed for now, starting all the same' },
    ]);
  });

  it('a refusal says once what to do', async () => {
    const { fake, tracker } = await connect();
    fake.failNext('GET /search/jql', json({ errorMessages: ['Nope'] }, 403));
    const failure = await tracker.preflight?.(never).catch((error: unknown) => String(error));
    expect(failure?.split('check its project permissions')).toHaveLength(2);
  });

  it('a throttled one is not asked again, and what it asks for is handed on', async () => {
    const { fake, tracker } = await connect();
    fake.failNext('GET /search/jql', json({}, 429, { 'retry-after': '3600' }));
    await expect(tracker.preflight?.(never)).rejects.toMatchObject({ retryable: true, retryAfterMs: 3_600_000 });
    fake.failNext('GET /search/jql', json({}, 429));
    await expect(tracker.preflight?.(never)).rejects.toMatchObject({ retryable: true, isLimit: true });
    expect(fake.requests).toHaveLength(2);
  });

  it('an answer that cannot be read does not end start-up', async () => {
    const { fake, tracker, records } = await connect();
    fake.failNext('GET /search/jql', text('<html>'));
    await tracker.preflight?.(never);
    expect(records).toHaveLength(1);
  });

  it('an abort is passed on', async () => {
    const { fake, tracker } = await connect();
    fake.failNext('GET /search/jql', hang());
    const controller = new AbortController();
    const call = tracker.preflight?.(controller.signal);
    await fake.arrived(1);
    const reason = new Error('stop');
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
  });
});

describe('a status that does not exist', () => {
  it('is told as such, with the statuses that the project has', async () => {
    const { fake, tracker, records } = await connect();
    fake.failNext(
      'GET /search/jql',
      json({ errorMessages: ["The value 'Backlog' does not exist for the field 'status'."] }, 400),
    );
    const types = [{ statuses: [{ name: 'To Do' }, { name: 'Done' }] }, { statuses: [{ name: 'Done' }] }];
    fake.failNext('GET /statuses', json(types));
    await tracker.preflight?.(never);
    expect(records.map(({ attributes }) => attributes['known_statuses'])).toEqual(['"To Do", "Done"']);
    expect(String(records[0]?.attributes['error'])).toContain("'Backlog' does not exist");
  });
});
