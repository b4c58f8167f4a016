import { NOTHING_KNOWN } from '../../domain/model/watch.ts';
import { NO_MARK } from '../../domain/model/reaction.ts';
import { describe, expect, it } from 'vitest';
import type { Notice } from '../../domain/model/notice.ts';
import {
  aRetry,
  aRun,
  aRunning,
  aSnapshot,
  anIssue,
  createFakeDaemon,
  NOON,
  type FakeDaemon,
} from '../../../test/support/fake-daemon.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { createApp } from '../routes.ts';

async function get(path: string, changes: Parameters<typeof createFakeDaemon>[0] = {}) {
  const daemon: FakeDaemon = createFakeDaemon(changes);
  const response = await createApp(
    daemon,
    createMetrics(daemon.notices, () => daemon.snapshot()),
  ).request(path);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const RUNS = [
  aRun('r-3', { startedAt: NOON - 1000, endedAt: null, status: 'running', issue: anIssue('a/b#3') }),
  aRun('r-2', { startedAt: NOON - 2000, model: 'model-x', costUsd: 0.5, issue: anIssue('ENG-1', { displayIdentifier: 'x#1' }) }),
  aRun('r-1', { startedAt: NOON - 3000, tokensMeasured: false, status: 'failed', error: 'it broke' }),
];

describe('GET /api/v2/runs', () => {
  it('lists runs, newest first, with every field', async () => {
    const { body } = await get('/api/v2/runs', { runs: RUNS });
    expect(body.next_cursor).toBeNull();
    expect((body.runs as object[])[1]).toEqual({
      id: 'r-2',
      issue_id: 'id-ENG-1',
      issue_identifier: 'ENG-1',
      display_identifier: 'x#1',
      title: 'Title of ENG-1',
      url: 'https://tracker.example/ENG-1',
      state: 'todo',
      attempt: 0,
      trigger: 'fresh',
      agent_kind: 'mock',
      status: 'succeeded',
      started_at: '2026-03-01T11:59:58.000Z',
      ended_at: '2026-03-01T11:55:00.000Z',
      turn_count: 3,
      session_id: 'mock-session-1',
      workspace_path: '/workspaces/ENG-1',
      model_name: 'model-x',
      tokens: { input_tokens: 1200, output_tokens: 300, total_tokens: 1500, cache_read_tokens: 800 },
      cost_usd: 0.5,
      error: null,
    });
  });

  it('leaves unknown what is unknown', async () => {
    const { body } = await get('/api/v2/runs', { runs: RUNS });
    const [running, , failed] = body.runs as object[];
    expect(running).toMatchObject({ ended_at: null, cost_usd: null });
    expect(running).not.toHaveProperty('model_name');
    expect(failed).toMatchObject({ tokens: null, error: 'it broke' });
  });

  it('filters by identifier', async () => {
    const { body } = await get(`/api/v2/runs?identifier=${encodeURIComponent('a/b#3')}`, { runs: RUNS });
    expect(body.runs).toMatchObject([{ id: 'r-3' }]);
  });

  it('pages by limit and cursor until nothing is left, also among runs of one moment', async () => {
    const seen: unknown[] = [];
    let path: string | null = '/api/v2/runs?limit=2';
    while (path !== null) {
      const { body } = await get(path, { runs: RUNS.map((run) => ({ ...run, startedAt: NOON })) });
      seen.push(...(body.runs as { id: string }[]).map((run) => run.id));
      path = typeof body.next_cursor === 'string' ? `/api/v2/runs?limit=2&cursor=${body.next_cursor}` : null;
    }
    expect(seen).toEqual(['r-3', 'r-2', 'r-1']);
  });

  it('has no next page after one that is exactly full', async () => {
    const { body } = await get('/api/v2/runs?limit=3', { runs: RUNS });
    expect(body.runs).toHaveLength(3);
    expect(body.next_cursor).toBeNull();
  });

  it.each([
    'limit=0',
    'cursor=',
    'cursor=nonsense',
    'limit=501',
    'limit=-1',
    'limit=1.5',
    'limit=',
    'limit=ten',
    'limit=99999999999',
    'before=yesterday',
    'before=',
    'before=2026-03-01',
    'before=2026-13-01T00:00:00Z',
    'before=2026-03-01T12:00:00',
    'identifier=',
  ])('?%s is 400 bad_request', async (query) => {
    const { status, body } = await get(`/api/v2/runs?${query}`, { runs: RUNS });
    expect(status).toBe(400);
    expect(body).toEqual({ error: { code: 'bad_request', message: expect.stringContaining(query.split('=')[0] ?? '') } });
  });
});

describe('GET /api/v2/issues/{identifier}', () => {
  it.each(['ENG-1', 'eng-1'])('finds an issue that is finished by the name %s', async (name) => {
    const { status, body } = await get(`/api/v2/issues/${name}`, { runs: RUNS });
    expect(status).toBe(200);
    expect(body).toMatchObject({ issue_identifier: 'ENG-1', runs: [{ id: 'r-2' }, { id: 'r-1' }] });
  });

  it('tells apart issues of two trackers that have the same id', async () => {
    const current = aSnapshot({ running: [aRunning('A-1', { issueId: '1' }), aRunning('B-1', { issueId: '1' })] });
    const trackerOf = (identifier: string): string => identifier.slice(0, 1);
    for (const name of ['A-1', 'B-1']) {
      const { body } = await get(`/api/v2/issues/${name}`, { current, trackerOf });
      expect(body).toMatchObject({ issue_identifier: name, claim: { issue_identifier: name } });
    }
  });

  it('shows one that was given another name in its tracker with all that is known of it', async () => {
    const current = aSnapshot({ running: [aRunning('ENG-1', { issueId: '1' })], retrying: [aRetry('NEW-1', { issueId: '1' })] });
    const { body } = await get('/api/v2/issues/NEW-1', { current });
    expect(body).toMatchObject({ claim: { issue_identifier: 'ENG-1' }, retry: { issue_identifier: 'NEW-1' } });
  });

  it.each([
    [50, false],
    [51, true],
  ])('of %i runs tells whether there are more', async (count, hasMore) => {
    const runs = Array.from({ length: count }, (_, index) => aRun(`r-${index}`, { startedAt: NOON - index }));
    const { body } = await get('/api/v2/issues/ENG-1', { runs });
    expect(body.runs).toHaveLength(50);
    expect(body.next_cursor !== null).toBe(hasMore);
  });
});

describe('the state in GET /api/v2/issues/{identifier}', () => {
  const stateAfter = async (...notices: readonly Notice[]) => {
    const daemon = createFakeDaemon({ runs: [aRun('r-1', { issue: anIssue('ENG-1'), status: 'succeeded' })] });
    for (const notice of notices) daemon.notices.announce(notice);
    const app = createApp(
      daemon,
      createMetrics(daemon.notices, () => daemon.snapshot()),
    );
    const { place, state } = (await (await app.request('/api/v2/issues/ENG-1')).json()) as Record<string, unknown>;
    return [place, state];
  };
  const issue = anIssue('ENG-1');
  const handedOff: Notice = { name: 'handoff:transition:succeeded', facts: { issue, state: 'review' } };

  it.each<[string, readonly Notice[], readonly [string, string | null]]>([
    ['that the handoff gave it', [handedOff], ['handed_off', 'review']],
    [
      'that somebody else gave it',
      [
        {
          name: 'handoff:transition:skipped',
          facts: { issue: { ...issue, state: 'review' }, state: 'review', reason: 'it is there' },
        },
      ],
      ['handed_off', 'review'],
    ],
    [
      'that the merge gave it',
      [handedOff, { name: 'reaction:completion:succeeded', facts: { issue, state: 'done' } }],
      ['handed_off', 'done'],
    ],
    [
      'of an issue that was not handed off',
      [{ name: 'handoff:transition:skipped', facts: { issue, state: 'review', reason: 'the issue was moved' } }],
      ['not_running', null],
    ],
    ['of which nothing was said', [], ['handed_off', null]],
  ])('is the one %s, never that of before', async (_, notices, expected) => {
    expect(await stateAfter(...notices)).toEqual(expected);
  });
});

describe('GET /api/v2/runs/{id}', () => {
  it('is the run with its events', async () => {
    const runEvents = [
      { runId: 'r-1', at: NOON, type: 'message', text: 'hello' },
      { runId: 'r-2', at: NOON, type: 'message', text: 'another run' },
    ];
    const { body } = await get('/api/v2/runs/r-1', { runs: RUNS, runEvents });
    expect(body).toMatchObject({
      run: { id: 'r-1' },
      events: [{ at: '2026-03-01T12:00:00.000Z', type: 'message', text: 'hello' }],
    });
    expect(body.events).toHaveLength(1);
  });

  it('is 404 run_not_found for an unknown one', async () => {
    const { status, body } = await get('/api/v2/runs/r-9', { runs: RUNS });
    expect(status).toBe(404);
    expect(body).toEqual({ error: { code: 'run_not_found', message: 'There is no run "r-9".' } });
  });
});

it('GET /api/v2/parked says why and since when', async () => {
  const parked = [{ issue: anIssue('ENG-4'), reason: 'blocked' as const, detail: 'no key', parkedAt: NOON, stateAtPark: null }];
  const { body } = await get('/api/v2/parked', { current: aSnapshot({ parked }) });
  expect(body).toEqual({
    parked: [
      {
        issue_id: 'id-ENG-4',
        issue_identifier: 'ENG-4',
        title: 'Title of ENG-4',
        url: 'https://tracker.example/ENG-4',
        state: 'todo',
        reason: 'blocked',
        detail: 'no key',
        parked_at: '2026-03-01T12:00:00.000Z',
      },
    ],
  });
});

describe('GET /api/v2/holds', () => {
  it('says why each candidate is not dispatched, and what keeps all back', async () => {
    const { body } = await get('/api/v2/holds', {
      current: aSnapshot({
        holds: [{ issue: anIssue('ENG-5'), reason: 'blocked_by', detail: 'blocked by ENG-4', since: NOON }],
        preflightProblem: 'no agent',
        pauses: [{ agentKind: 'mock', until: NOON, reason: 'limit' }],
        poll: { last: { at: NOON, durationMs: 12, candidates: 3, error: 'refused' }, nextAt: NOON, inFlight: true },
      }),
    });
    const noon = '2026-03-01T12:00:00.000Z';
    expect(body).toEqual({
      holds: [
        {
          issue_id: 'id-ENG-5',
          issue_identifier: 'ENG-5',
          title: 'Title of ENG-5',
          url: 'https://tracker.example/ENG-5',
          state: 'todo',
          reason: 'blocked_by',
          detail: 'blocked by ENG-4',
          since: noon,
        },
      ],
      pause: null,
      preflight_problem: 'no agent',
      agent_pauses: [{ agent_kind: 'mock', until: noon, reason: 'limit' }],
      last_poll: { at: noon, duration_ms: 12, candidates: 3, error: 'refused' },
      next_poll_at: noon,
      tracker_problem: { at: noon, error: 'refused', remedy: null, next_try_at: noon },
    });
  });

  it('has no last poll before the first one', async () => {
    const { body } = await get('/api/v2/holds', { current: aSnapshot({ poll: { last: null, nextAt: NOON, inFlight: true } }) });
    expect(body).toMatchObject({ holds: [], last_poll: null, preflight_problem: null, agent_pauses: [], tracker_problem: null });
  });

  it('says why a start could not read its tracker, and when it tries again', async () => {
    const startFault = { at: NOON, error: 'status 503', remedy: 'check tracker.endpoint', nextTryAt: NOON + 2000 };
    const current = aSnapshot({ poll: { last: null, nextAt: NOON, inFlight: false, startFault } });
    expect((await get('/api/v2/holds', { current })).body).toMatchObject({
      last_poll: null,
      tracker_problem: {
        at: '2026-03-01T12:00:00.000Z',
        error: 'status 503',
        remedy: 'check tracker.endpoint',
        next_try_at: '2026-03-01T12:00:02.000Z',
      },
    });
  });
});

it('GET /api/v2/merge-requests tells how far each reaction has come', async () => {
  const watch = {
    issue: anIssue('7', { displayIdentifier: 'a/b#7' }),
    mergeRequest: { owner: 'a', repo: 'b', number: 12, branch: 'fix-7', sha: 'abc123' },
    armedAt: NOON,
    facts: NOTHING_KNOWN,
    attempt: 0,
    reading: {
      at: NOON,
      headSha: 'def456',
      url: 'https://forge.example/a/b/12',
      mergeability: 'clean',
      decision: 'APPROVED',
      ci: 'failing',
      merged: false,
      draft: true,
    },
    reactions: {
      ci_failure: { used: 1, mark: NO_MARK, escalated: true, failures: 0, nextAt: NOON, waitingFor: 'a person' },
    },
  };
  const { body } = await get('/api/v2/merge-requests', { current: aSnapshot({ watches: [watch, { ...watch, reading: null }] }) });
  const noon = '2026-03-01T12:00:00.000Z';
  const entry = {
    issue_id: 'id-7',
    issue_identifier: '7',
    display_identifier: 'a/b#7',
    owner: 'a',
    repo: 'b',
    number: 12,
    branch: 'fix-7',
    head_sha: 'def456',
    watched_since: noon,
    managed: null,
    problem: null,
    last_look: {
      at: noon,
      url: 'https://forge.example/a/b/12',
      mergeability: 'clean',
      review_decision: 'APPROVED',
      ci_status: 'failing',
      draft: true,
      merged: false,
    },
    reactions: [{ kind: 'ci_failure', attempts_used: 1, escalated: true, waiting_for: 'a person', next_check_at: noon }],
  };
  expect(body).toEqual({ merge_requests: [entry, { ...entry, head_sha: 'abc123', last_look: null }] });
  const bare = { ...watch, reading: watch.reading && { ...watch.reading, ci: 'none' } };
  const { body: without } = await get('/api/v2/merge-requests', { current: aSnapshot({ watches: [bare] }) });
  expect(without).toMatchObject({ merge_requests: [{ last_look: { ci_status: '' } }] });
});
