import type { ErrorCode } from '../../http/envelope.ts';
import { AMOUNT, COUNT, FLAG, listOf, oneOf, openRecord, orNull, record, ref, TEXT, TIME, type Schema } from './schemas.ts';

/** What one route takes and gives. Routes of pages are not described here. */
export interface Operation {
  readonly method: 'get' | 'post';
  /** With `{name}` for a parameter. */
  readonly path: string;
  readonly summary: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Schema;
  /** JSON unless `type` says otherwise. */
  readonly answers: Readonly<Record<number, Schema>>;
  readonly type?: string;
  readonly errors?: readonly ErrorCode[];
  /** Asked for no token. */
  readonly open?: true;
}

const verdict = oneOf('pass', 'fail');
const readiness = record({
  status: verdict,
  version: TEXT,
  uptime_seconds: AMOUNT,
  checks: record({ database: verdict, preflight: verdict, workflow: verdict }),
  'workflow_error?': TEXT,
  'role?': oneOf('leader', 'standby'),
  'leader?': orNull(record({ host: TEXT, pid: COUNT, url: orNull(TEXT), since: TIME, epoch: COUNT })),
  'poll_postponed?': record({ reason: TEXT, until: TIME }),
});
const refreshed = record({ queued: FLAG, coalesced: FLAG, requested_at: TIME, operations: listOf(oneOf('poll', 'reconcile')) });
const requestErrors = ['issue_not_found', 'not_possible_now', 'forbidden_origin', 'database_unavailable'] as const;

function issueRequest(kind: string, summary: string): Operation {
  return {
    method: 'post',
    path: `/api/v2/issues/{identifier}/${kind}`,
    summary,
    answers: { 202: ref('Requested') },
    errors: requestErrors,
  };
}

export const OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: '/livez',
    summary: 'Liveness',
    answers: { 200: record({ status: verdict }), 503: record({ status: verdict }) },
    open: true,
  },
  { method: 'get', path: '/readyz', summary: 'Readiness', answers: { 200: readiness, 503: readiness }, open: true },
  { method: 'get', path: '/metrics', summary: 'Metrics for Prometheus', type: 'text/plain', answers: { 200: TEXT } },
  {
    method: 'post',
    path: '/hooks/{kind}',
    summary: 'A webhook of the tracker or forge, signed in its own manner',
    body: {},
    answers: { 202: record({ accepted: FLAG, duplicate: FLAG }) },
    errors: ['bad_signature', 'not_found', 'body_too_large'],
    open: true,
  },
  {
    method: 'get',
    path: '/api/v1/state',
    summary: 'What runs and what waits for a retry',
    answers: {
      200: record({
        generated_at: TIME,
        counts: record({ running: COUNT, retrying: COUNT }),
        running: listOf(ref('Running')),
        retrying: listOf(ref('Retry')),
        agent_totals: record({
          input_tokens: COUNT,
          output_tokens: COUNT,
          total_tokens: COUNT,
          cache_read_tokens: COUNT,
          seconds_running: AMOUNT,
        }),
        rate_limits: record({}),
      }),
    },
    errors: ['snapshot_unavailable'],
  },
  {
    method: 'post',
    path: '/api/v1/refresh',
    summary: 'Poll and reconcile now',
    answers: { 202: refreshed, 409: refreshed },
    errors: ['forbidden_origin'],
  },
  {
    method: 'get',
    path: '/api/v1/{identifier}',
    summary: 'One issue that runs or waits',
    answers: {
      200: record({
        issue_identifier: TEXT,
        'display_identifier?': TEXT,
        issue_id: TEXT,
        status: oneOf('running', 'retrying'),
        workspace: orNull(record({ path: TEXT })),
        attempts: record({ restart_count: COUNT, current_retry_attempt: COUNT }),
        running: orNull(ref('Running')),
        retry: orNull(ref('Retry')),
        recent_events: listOf({}),
        last_error: orNull(TEXT),
        tracked: record({}),
      }),
    },
    errors: ['issue_not_found', 'snapshot_unavailable'],
  },
  {
    method: 'get',
    path: '/api/v2/runs',
    summary: 'History, newest first',
    query: {
      identifier: 'only runs of this issue',
      limit: '1 to 500; 50 unless given',
      before: 'only runs that started before this moment',
      cursor: 'the next_cursor of an earlier answer',
    },
    answers: { 200: record({ runs: listOf(ref('Run')), next_cursor: orNull(TEXT) }) },
    errors: ['bad_request', 'database_unavailable'],
  },
  {
    method: 'get',
    path: '/api/v2/runs/{id}',
    summary: 'One run with its events',
    answers: { 200: record({ run: ref('Run'), events: listOf(ref('RunEvent')) }) },
    errors: ['run_not_found', 'database_unavailable'],
  },
  {
    method: 'get',
    path: '/api/v2/issues/{identifier}',
    summary: 'All that is known of one issue',
    answers: { 200: ref('Issue') },
    errors: ['issue_not_found', 'snapshot_unavailable', 'database_unavailable'],
  },
  issueRequest('stop', 'End the session and park the issue'),
  issueRequest('retry', 'Make a waiting or parked issue due now'),
  issueRequest('unpark', 'Release a parked issue'),
  {
    method: 'post',
    path: '/api/v2/pause',
    summary: 'Dispatch nothing new until resumed',
    body: openRecord({ 'reason?': TEXT }),
    answers: { 202: ref('Requested') },
    errors: ['bad_request', 'forbidden_origin', 'not_possible_now', 'body_too_large', 'database_unavailable'],
  },
  {
    method: 'post',
    path: '/api/v2/resume',
    summary: 'Dispatch again',
    answers: { 202: ref('Requested') },
    errors: ['forbidden_origin', 'not_possible_now', 'database_unavailable'],
  },
  {
    method: 'get',
    path: '/api/v2/parked',
    summary: 'Issues that wait for a person',
    answers: { 200: record({ parked: listOf(ref('Parked')) }) },
    errors: ['snapshot_unavailable'],
  },
  {
    method: 'get',
    path: '/api/v2/holds',
    summary: 'Why each candidate is not worked on',
    answers: {
      200: record({
        holds: listOf(ref('Hold')),
        preflight_problem: orNull(TEXT),
        pause: orNull(record({ reason: TEXT, by: TEXT, since: TIME })),
        agent_pauses: listOf(record({ agent_kind: TEXT, until: TIME, reason: TEXT })),
        last_poll: orNull(record({ at: TIME, duration_ms: AMOUNT, candidates: COUNT, error: orNull(TEXT) })),
        next_poll_at: orNull(TIME),
        tracker_problem: orNull(record({ at: TIME, error: TEXT, remedy: orNull(TEXT), next_try_at: orNull(TIME) })),
      }),
    },
    errors: ['snapshot_unavailable'],
  },
  {
    method: 'get',
    path: '/api/v2/merge-requests',
    summary: 'Merge requests that reactions look after',
    answers: { 200: record({ merge_requests: listOf(ref('MergeRequest')) }) },
    errors: ['snapshot_unavailable'],
  },
  {
    method: 'get',
    path: '/api/v2/workers',
    summary: 'Hosts that runs are given to',
    answers: { 200: record({ workers: listOf(ref('Worker')) }) },
    errors: ['snapshot_unavailable'],
  },
  {
    method: 'get',
    path: '/api/v2/notifications',
    summary: 'Who is told of what happens, and whether the messages arrive',
    answers: {
      200: record({
        notifications: listOf(
          record({
            target: TEXT,
            format: oneOf('json', 'slack'),
            on: listOf(TEXT),
            waiting: COUNT,
            failing: orNull(record({ since: TIME, error: TEXT, tries: COUNT, next_try_at: TIME })),
          }),
        ),
      }),
    },
    errors: ['snapshot_unavailable'],
  },
  {
    method: 'get',
    path: '/api/v2/workflow',
    summary: 'The workflow file in force',
    answers: {
      200: record({
        path: TEXT,
        applied_at: TIME,
        warnings: listOf(TEXT),
        rejected: orNull(record({ at: TIME, reason: TEXT })),
        problems: listOf(ref('WorkflowProblem')),
      }),
    },
  },
  {
    method: 'get',
    path: '/api/v2/statistics',
    summary: 'Runs added up',
    query: { by: 'day, agent, state or issue; day unless given', days: 'how far back; 7 unless given' },
    answers: { 200: record({ by: TEXT, since: TIME, rows: listOf(ref('Statistics')) }) },
    errors: ['bad_request', 'database_unavailable'],
  },
  {
    method: 'get',
    path: '/api/v2/events',
    summary: 'Everything that happens, as server-sent events',
    query: { names: 'only events of these names, separated by commas' },
    type: 'text/event-stream',
    answers: { 200: TEXT },
    errors: ['bad_request', 'too_many_streams'],
  },
  { method: 'get', path: '/api/v2/openapi.json', summary: 'This description', answers: { 200: {} } },
];
