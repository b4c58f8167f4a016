import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { aRetry, aRunning, aSnapshot, anIssue, createNotices, NOON } from '../../../test/support/fake-daemon.ts';
import { PARK_REASONS } from '../../domain/model/claim.ts';
import type { Notice } from '../../domain/model/notice.ts';
import type { Snapshot } from '../../domain/views/snapshot.ts';
import { HOLD_REASONS } from '../../domain/model/hold.ts';
import { TRACKER_OPERATIONS } from '../../ports/tracker.ts';
import { keepNotices } from '../kept-notices.ts';
import { FAMILIES } from './families.ts';
import { HOST_MEASURES, MEASURES } from './measures.ts';
import { createMetrics } from './metrics.ts';

function setUp(snapshot: Snapshot | null = aSnapshot()) {
  const notices = createNotices();
  const metrics = createMetrics(notices, () => snapshot);
  /** The value of one series, undefined when it is not exposed. */
  const value = async (series: string) => {
    const line = (await metrics.render()).split('\n').find((candidate) => candidate.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length));
  };
  return { notices, metrics, value };
}

const issue = anIssue('ENG-1');
const run = { issue, runId: 'r-1' };

/** One row per notice that is counted: the notice, the series it moves, and to what. */
const COUNTED: readonly (readonly [notice: Notice, series: Readonly<Record<string, number>>])[] = [
  [
    { name: 'poll:tick:completed', facts: { candidates: 1, dispatched: 0, running: 0, retrying: 0, durationMs: 250 } },
    {
      'svc_polls_total{result="success"}': 1,
      svc_poll_duration_seconds_sum: 0.25,
      'svc_poll_duration_seconds_bucket{le="0.25"}': 1,
    },
  ],
  [
    { name: 'poll:tick:failed', facts: { kind: 'tracker_api_error', retryInMs: 0, error: 'no', durationMs: 2000 } },
    { 'svc_polls_total{result="error"}': 1, svc_poll_duration_seconds_sum: 2 },
  ],
  [
    { name: 'issue:dispatch:started', facts: { ...run, attempt: 0, trigger: 'ci_failure', agentKind: 'codex' } },
    { 'svc_dispatches_total{trigger="ci_failure"}': 1, 'svc_cost_usd_total{agent="codex"}': 0 },
  ],
  [
    { name: 'run:cost:counted', facts: { ...run, agentKind: 'codex', costUsd: 0.25 } },
    { 'svc_cost_usd_total{agent="codex"}': 0.25 },
  ],
  [{ name: 'poll:holds:counted', facts: { counts: { blocked_by: 3 } } }, { 'svc_candidate_holds_total{reason="blocked_by"}': 3 }],
  [
    { name: 'issue:park:entered', facts: { issue, reason: 'token_budget', detail: '' } },
    { 'svc_issue_parks_total{reason="token_budget"}': 1 },
  ],
  [
    { name: 'issue:in-progress:succeeded', facts: { issue, state: 'x' } },
    { 'svc_in_progress_transitions_total{result="success"}': 1 },
  ],
  [
    { name: 'issue:in-progress:refused', facts: { issue, state: 'x', error: 'no' } },
    { 'svc_in_progress_transitions_total{result="refused"}': 1 },
  ],
  [
    {
      name: 'run:tokens:counted',
      facts: { ...run, tokens: { inputTokens: 10, outputTokens: 3, totalTokens: 13, cacheReadTokens: 7 } },
    },
    { 'svc_tokens_total{type="input"}': 10, 'svc_tokens_total{type="output"}': 3, 'svc_tokens_total{type="cache_read"}': 7 },
  ],
  [
    {
      name: 'run:worker:exited',
      facts: { ...run, exitKind: 'error', status: 'failed', turns: 1, durationMs: 90_000, error: 'no' },
    },
    {
      'svc_worker_exits_total{exit_kind="error"}': 1,
      'svc_worker_duration_seconds_sum{exit_kind="error"}': 90,
      svc_agent_runtime_seconds_total: 90,
    },
  ],
  [
    { name: 'retry:entry:scheduled', facts: { issue, attempt: 1, trigger: 'handoff', delayMs: 1, error: '' } },
    { 'svc_retries_total{trigger="handoff"}': 1 },
  ],
  [
    { name: 'handoff:transition:succeeded', facts: { issue, state: 'x' } },
    { 'svc_handoff_transitions_total{result="success"}': 1 },
  ],
  [
    { name: 'handoff:transition:failed', facts: { issue, state: 'x', error: 'no' } },
    { 'svc_handoff_transitions_total{result="error"}': 1 },
  ],
  [
    { name: 'handoff:transition:refused', facts: { issue, state: 'x', error: 'no' } },
    { 'svc_handoff_transitions_total{result="refused"}': 1 },
  ],
  [
    { name: 'handoff:transition:skipped', facts: { issue, state: 'x', reason: 'moved' } },
    { 'svc_handoff_transitions_total{result="skipped"}': 1 },
  ],
  [
    { name: 'notification:message:sent', facts: { target: 'HOOK', event: 'handoff' } },
    { 'svc_notifications_total{result="success"}': 1 },
  ],
  [
    { name: 'notification:message:failed', facts: { target: 'HOOK', event: 'handoff', error: 'no', tries: 1, gaveUp: false } },
    { 'svc_notifications_total{result="error"}': 1 },
  ],
  [
    { name: 'notification:message:failed', facts: { target: 'HOOK', event: 'handoff', error: 'no', tries: 9, gaveUp: true } },
    { 'svc_notifications_total{result="given_up"}': 1 },
  ],
  [
    { name: 'notification:message:dropped', facts: { target: 'HOOK', event: 'handoff' } },
    { 'svc_notifications_total{result="left_out"}': 1 },
  ],
  [
    { name: 'reconcile:issue:stopped', facts: { issue, reason: 'terminal', state: 'x' } },
    { 'svc_reconciliation_actions_total{action="stop"}': 1 },
  ],
  [{ name: 'reconcile:issue:kept', facts: { issue } }, { 'svc_reconciliation_actions_total{action="keep"}': 1 }],
  [
    { name: 'workspace:directory:removed', facts: { issueId: '1', identifier: 'E', workspace: '/w', why: 'terminal' } },
    { 'svc_reconciliation_actions_total{action="cleanup"}': 1 },
  ],
  [{ name: 'outbox:write:sent', facts: { issue, kind: 'comment' } }, { 'svc_tracker_comments_total{result="success"}': 1 }],
  [
    { name: 'outbox:write:failed', facts: { issue, kind: 'comment', error: 'no', gaveUp: false } },
    { 'svc_tracker_comments_total{result="error"}': 1 },
  ],
  [{ name: 'outbox:write:sent', facts: { issue, kind: 'label' } }, { 'svc_tracker_comments_total{result="success"}': 0 }],
  [
    { name: 'outbox:write:failed', facts: { issue, kind: 'label', error: 'no', gaveUp: true } },
    { 'svc_tracker_comments_total{result="error"}': 0 },
  ],
  [
    { name: 'tracker:request:made', facts: { operation: 'fetch_candidates', result: 'error' } },
    { 'svc_tracker_requests_total{operation="fetch_candidates",result="error"}': 1 },
  ],
  [
    { name: 'forge:request:made', facts: { kind: 'nsproject', result: 'success' } },
    { 'svc_forge_requests_total{kind="nsproject",result="success"}': 1 },
  ],
  [{ name: 'poll:tick:postponed', facts: { reason: 'spent', resource: 'core', until: NOON } }, { svc_polls_postponed_total: 1 }],
  [{ name: 'workflow:file:reloaded', facts: { path: 'W' } }, { 'svc_workflow_reloads_total{result="success"}': 1 }],
  [
    { name: 'workflow:file:rejected', facts: { path: 'W', problems: [], faults: [] } },
    { 'svc_workflow_reloads_total{result="error"}': 1 },
  ],
  [
    { name: 'agent:kind:paused', facts: { agentKind: 'claude-code', until: NOON, reason: 'limit' } },
    { 'svc_agent_pauses_total{agent="claude-code"}': 1 },
  ],
  [
    { name: 'reaction:check:completed', facts: { issue, kind: 'auto_merge', result: 'waiting', detail: '' } },
    { 'svc_reaction_checks_total{kind="auto_merge",result="waiting"}': 1 },
  ],
  [
    { name: 'reaction:turn:queued', facts: { issue, kind: 'bot_review', attempt: 1 } },
    { 'svc_reaction_turns_total{kind="bot_review"}': 1 },
  ],
  [
    { name: 'reaction:escalation:raised', facts: { issue, kind: 'ci_failure', action: 'label', why: '' } },
    { 'svc_reaction_escalations_total{kind="ci_failure"}': 1, 'svc_issue_parks_total{reason="escalated"}': 1 },
  ],
  [
    { name: 'reaction:merge:succeeded', facts: { issue, number: 1, headSha: 'a', byUs: true } },
    { 'svc_merges_total{result="success"}': 1 },
  ],
  [
    { name: 'reaction:merge:succeeded', facts: { issue, number: 1, headSha: 'a', byUs: false } },
    { 'svc_merges_total{result="success"}': 0 },
  ],
  [{ name: 'reaction:merge:failed', facts: { issue, number: 1, error: 'no' } }, { 'svc_merges_total{result="error"}': 1 }],
];

describe('counters', () => {
  it.each(COUNTED.map(([notice, series]) => [notice.name, Object.keys(series).join(', '), notice, series] as const))(
    '%s moves %s',
    async (_name, _series, notice, series) => {
      const { notices, value } = setUp();
      notices.announce(notice);
      for (const [name, expected] of Object.entries(series)) expect(await value(name), name).toBe(expected);
    },
  );

  it('count each notice of the families at least once above', () => {
    const handled = new Set(FAMILIES.flatMap((family) => Object.keys(family.on)));
    expect([...handled].sort()).toEqual([...new Set(COUNTED.map(([notice]) => notice.name))].sort());
  });

  it('show every known label value from the start, as 0', async () => {
    const { value } = setUp();
    for (const operation of TRACKER_OPERATIONS) {
      expect(await value(`svc_tracker_requests_total{operation="${operation}",result="success"}`), operation).toBe(0);
    }
    for (const reason of HOLD_REASONS) expect(await value(`svc_candidate_holds_total{reason="${reason}"}`), reason).toBe(0);
    expect(await value('svc_agent_runtime_seconds_total')).toBe(0);
    expect(await value('svc_worker_duration_seconds_count{exit_kind="normal"}')).toBe(0);
  });

  it('survive a clock that was set back', async () => {
    const { notices, value } = setUp();
    const facts = { ...run, exitKind: 'normal', status: 'succeeded', turns: 1, durationMs: -5000, error: null } as const;
    notices.announce({ name: 'run:worker:exited', facts });
    expect(await value('svc_worker_exits_total{exit_kind="normal"}')).toBe(1);
    expect(await value('svc_agent_runtime_seconds_total')).toBe(0);
  });

  it('counts what was announced before it was there, and what comes after', async () => {
    const notices = createNotices();
    const kept = keepNotices(notices);
    notices.announce({ name: 'workflow:file:reloaded', facts: { path: 'W' } });
    const metrics = createMetrics(kept, () => aSnapshot());
    notices.announce({ name: 'workflow:file:reloaded', facts: { path: 'W' } });
    kept.stop();
    notices.announce({ name: 'workflow:file:reloaded', facts: { path: 'W' } });
    expect(await metrics.render()).toContain('svc_workflow_reloads_total{result="success"} 2\n');
  });

  it('stop counting when stopped', async () => {
    const { notices, metrics, value } = setUp();
    metrics.stop();
    notices.announce({ name: 'workflow:file:reloaded', facts: { path: 'W' } });
    expect(await value('svc_workflow_reloads_total{result="success"}')).toBe(0);
    expect(notices.count()).toBe(0);
  });

  it('of two daemons in one process stay apart', async () => {
    const [one, other] = [setUp(), setUp()];
    one.notices.announce({ name: 'workflow:file:reloaded', facts: { path: 'W' } });
    expect(await other.value('svc_workflow_reloads_total{result="success"}')).toBe(0);
  });
});

describe('gauges', () => {
  const snapshot = aSnapshot({
    running: [aRunning('ENG-1', { startedAt: NOON - 10_000 }), aRunning('ENG-2', { startedAt: NOON - 5_000 })],
    retrying: [aRetry('ENG-3')],
    slots: { max: 10, available: 8 },
    parked: [{ issue, reason: 'blocked', detail: '', parkedAt: NOON, stateAtPark: null }],
  });

  it.each([
    ['svc_sessions_running', 2],
    ['svc_sessions_retrying', 1],
    ['svc_slots_available', 8],
    ['svc_slots_max', 10],
    ['svc_active_sessions_elapsed_seconds', 15],
    ['svc_merge_requests_watched', 0],
    ['svc_parked_issues{reason="blocked"}', 1],
    ['svc_parked_issues{reason="escalated"}', 0],
    [`svc_build_info{version="${FORAY_VERSION}",node_version="${process.version}"}`, 1],
  ])('%s is %d', async (series, expected) => {
    expect(await setUp(snapshot).value(series)).toBe(expected);
  });

  it('of what is gone go with the next scrape', async () => {
    const target = { target: 'HOOK', format: 'json', on: [], waiting: 2, failing: null } as const;
    const quota = {
      kind: 'repoissues',
      resource: 'core',
      remaining: 7,
      limit: 9,
      resetAt: NOON,
      rule: 'show' as const,
      pollCost: 1,
    };
    let current = aSnapshot({ notifications: [target], quotas: [quota] });
    const metrics = createMetrics(createNotices(), () => current);
    const before = await metrics.render();
    expect(before).toContain('svc_notifications_waiting{target="HOOK"} 2');
    expect(before).toContain('svc_quota_remaining{kind="repoissues",resource="core"} 7');
    current = aSnapshot();
    const after = await metrics.render();
    expect(after).not.toContain('HOOK');
    expect(after).not.toContain('repoissues');
    expect(after).toContain('svc_sessions_running 0');
  });

  it('do not break the page when there is no snapshot', async () => {
    expect(await setUp(null).value('svc_polls_total{result="success"}')).toBe(0);
  });

  it('cover every reason to park', async () => {
    const { value } = setUp();
    for (const reason of PARK_REASONS) expect(await value(`svc_parked_issues{reason="${reason}"}`)).toBe(0);
  });
});

it('the content type is that of the text exposition format', () => {
  expect(setUp().metrics.contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
});

it('docs/metrics.md lists every family with its type and labels, and no other', async () => {
  const { metrics } = setUp();
  const exposed = [...(await metrics.render()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  const page = await readFile(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `(svc_\w+)` \| (\w+) \| ([^|]*) \|/gm)];
  expect(rows.map(([, name, type]) => `${name} ${type}`).sort()).toEqual(exposed.sort());

  const labelsOf = new Map([
    ...FAMILIES.map(({ name, labels }) => [name, Object.keys(labels)] as const),
    ...MEASURES.map(({ name, labels = [] }) => [name, labels] as const),
    ...HOST_MEASURES.map(({ name }) => [name, ['host']] as const),
    ['svc_build_info', ['version', 'node_version']] as const,
  ]);
  for (const [, name = '', , cell = ''] of rows) {
    const documented = [...cell.matchAll(/`(\w+)`(?: \(|,|$)/g)].map(([, label]) => label);
    expect(documented, name).toEqual(labelsOf.get(name));
  }
});
