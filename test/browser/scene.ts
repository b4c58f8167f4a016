import { NOTHING_KNOWN } from '../../src/domain/model/watch.ts';
import { NO_MARK } from '../../src/domain/model/reaction.ts';
import { aRetry, aRun, aRunning, aSnapshot, anIssue, createFakeDaemon, NOON, type FakeDaemon } from '../support/fake-daemon.ts';
import type { Run, RunEvent, RunEventDetails, RunStatus } from '../../src/domain/model/run.ts';
import type { Snapshot } from '../../src/domain/views/snapshot.ts';

const MINUTE = 60_000;

/** A busy afternoon, with something in every panel: what the picture in the README shows. */
export function busyAfternoon(): FakeDaemon {
  const daemon = createFakeDaemon({ current: busySnapshot(), runs: RUNS, runEvents: EVENTS });
  lookBack(daemon);
  return daemon;
}

/** Half a day of polls, and what happened to an issue after its run. */
function lookBack(daemon: FakeDaemon): void {
  const { notices } = daemon;
  for (let minutes = 720; minutes >= 0; minutes -= 6) {
    daemon.now = NOON - minutes * MINUTE;
    const remaining = QUOTA.limit - ((720 - minutes) % 60) * 180;
    notices.announce({ name: 'tracker:quotas:read', facts: { quotas: [{ ...QUOTA, remaining }] } });
    const durationMs = Math.round(310 + 60 * Math.sin(minutes / 25) + ((minutes * 37) % 40));
    if (minutes === 300)
      notices.announce({ name: 'poll:tick:failed', facts: { error: '503', kind: 'internal_error', retryInMs: 1, durationMs } });
    const running = Math.round(2.5 + 2 * Math.sin(minutes / 70));
    const facts = { candidates: 9, dispatched: 0, running, retrying: Math.round(1 + Math.sin(minutes / 40)), durationMs };
    notices.announce({ name: 'poll:tick:completed', facts });
  }
  const issue = anIssue('SHOP-389');
  daemon.now = NOON - 33 * MINUTE;
  notices.announce({ name: 'handoff:transition:succeeded', facts: { issue, state: 'In Review' } });
  notices.announce({ name: 'reaction:watch:armed', facts: { issue, owner: 'acme', repo: 'shop', number: 1204 } });
  daemon.now = NOON;
}

const QUOTA = {
  kind: 'wfboard',
  resource: 'requests',
  rule: 'show',
  remaining: 58_210,
  limit: 65_000,
  resetAt: NOON + 22 * MINUTE,
  pollCost: 4,
} as const;

function busySnapshot(): Snapshot {
  return aSnapshot({
    startedAt: NOON - 31 * 60 * MINUTE,
    quotas: [QUOTA],
    trackerName: 'wfboard',
    agentKind: 'claude-code',
    slots: { max: 5, available: 2 },
    totals: {
      tokens: { inputTokens: 18_420_000, outputTokens: 612_400, totalTokens: 19_032_400, cacheReadTokens: 15_904_000 },
      secondsRunning: 6 * 3600 + 1140,
      sessions: 0,
      costUsd: 41.87,
    },
    running: [
      session('SHOP-412', 'Checkout drops the discount code after a failed payment', {
        turnCount: 4,
        startedAt: NOON - 22 * MINUTE - 12_000,
        lastEvent: 'message',
        lastMessage:
          'The cart reducer resets `discount` on PAYMENT_FAILED. I will keep it and add a regression test next to the existing ones.',
        tokens: { inputTokens: 1_840_200, outputTokens: 42_310, totalTokens: 1_882_510, cacheReadTokens: 1_610_000 },
        costUsd: 2.31,
      }),
      session('SHOP-398', 'Export of large invoices times out', {
        attempt: 2,
        turnCount: 2,
        startedAt: NOON - 8 * MINUTE - 41_000,
        lastEvent: 'tool_started',
        lastMessage: 'npm test -- invoices/export',
        tokens: { inputTokens: 610_400, outputTokens: 12_080, totalTokens: 622_480, cacheReadTokens: 540_100 },
        costUsd: 0.84,
      }),
      session('SHOP-420', 'Document the webhook signature', {
        turnCount: 1,
        startedAt: NOON - 48_000,
        lastEvent: 'turn_started',
        tokens: { inputTokens: 38_000, outputTokens: 410, totalTokens: 38_410, cacheReadTokens: 22_000 },
        costUsd: 0.06,
      }),
    ],
    retrying: [
      aRetry('SHOP-377', {
        title: 'Flaky address lookup in the French shop',
        attempt: 2,
        dueAt: NOON + 74_000,
        error: 'agent: turn_failed: the API answered 529 overloaded three times in a row',
      }),
      aRetry('SHOP-405', {
        title: 'Search ignores umlauts',
        attempt: 1,
        dueAt: NOON + 214_000,
        error:
          'workspace: before_run hook failed: npm ci exited with code 1\nnpm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree',
      }),
    ],
    parked: [
      {
        issue: anIssue('SHOP-351', { title: 'Move tax rates to the new service', state: 'In Progress' }),
        reason: 'blocked',
        detail: 'The staging credentials of the tax service are missing. I need TAX_API_URL and a read-only key.',
        parkedAt: NOON - 190 * MINUTE,
        stateAtPark: 'In Progress',
      },
    ],
    holds: [
      hold('SHOP-433', 'Split the pricing module', 'blocked_by', 'blocked by SHOP-412', 35),
      hold('SHOP-434', 'Remove the old pricing module', 'blocked_by', 'blocked by SHOP-433', 35),
      hold('SHOP-440', 'Rename the warehouse endpoint', 'no_state_slot', 'all slots of state "Ready" are taken', 6),
    ],
    watches: [
      {
        issue: anIssue('SHOP-389', { title: 'Retry failed payouts' }),
        mergeRequest: { owner: 'acme', repo: 'shop', number: 1204, branch: 'shop-389-retry-payouts', sha: '9f31c6d0aa17b2' },
        armedAt: NOON - 50 * MINUTE,
        facts: NOTHING_KNOWN,
        attempt: 0,
        reading: {
          at: NOON - 25_000,
          headSha: '9f31c6d0aa17b2',
          url: 'https://forge.example/acme/shop/1204',
          mergeability: 'clean',
          decision: 'REVIEW_REQUIRED',
          ci: 'pending',
          merged: false,
          draft: false,
        },
        reactions: {
          ci_failure: reaction({ used: 1, waitingFor: 'the checks of the fix', nextAt: NOON + 35_000 }),
          review_comments: reaction({ waitingFor: 'a review', nextAt: NOON + 96_000 }),
        },
      },
    ],
    poll: { last: { at: NOON - 18_000, durationMs: 340, candidates: 9, error: null }, nextAt: NOON + 12_000, inFlight: false },
  });
}

function session(identifier: string, title: string, changes: Parameters<typeof aRunning>[1]) {
  return aRunning(identifier, {
    title,
    state: 'In Progress',
    modelName: 'claude-sonnet-4-5',
    lastEventAt: NOON - 3_000,
    ...changes,
  });
}

function hold(identifier: string, title: string, reason: 'blocked_by' | 'no_state_slot', detail: string, minutes: number) {
  return { issue: anIssue(identifier, { title, state: 'Ready' }), reason, detail, since: NOON - minutes * MINUTE };
}

function reaction(changes: { used?: number; waitingFor: string; nextAt: number }) {
  return { used: 0, mark: NO_MARK, escalated: false, failures: 0, ...changes };
}

const RUNS: readonly Run[] = [
  pastRun('r-31', 'SHOP-389', 'Retry failed payouts', 'succeeded', {
    ago: 50,
    took: 17,
    turns: 5,
    tokens: 1_204_000,
    costUsd: 1.62,
  }),
  pastRun('r-30', 'SHOP-377', 'Flaky address lookup in the French shop', 'failed', {
    ago: 64,
    took: 3,
    turns: 1,
    tokens: 88_000,
    costUsd: 0.11,
  }),
  pastRun('r-29', 'SHOP-384', 'Show the delivery window in the order mail', 'succeeded', {
    ago: 96,
    took: 28,
    turns: 7,
    tokens: 2_410_000,
    costUsd: 3.02,
  }),
  pastRun('r-28', 'SHOP-351', 'Move tax rates to the new service', 'blocked', {
    ago: 201,
    took: 11,
    turns: 3,
    tokens: 702_000,
    costUsd: 0.95,
  }),
  pastRun('r-27', 'SHOP-370', 'Accessible colours for stock levels', 'succeeded', {
    ago: 260,
    took: 9,
    turns: 3,
    tokens: 540_000,
    costUsd: 0.71,
  }),
];

interface PastRun {
  readonly ago: number;
  readonly took: number;
  readonly turns: number;
  readonly tokens: number;
  readonly costUsd: number;
}

function pastRun(
  id: string,
  identifier: string,
  title: string,
  status: RunStatus,
  { ago, took, turns, tokens, costUsd }: PastRun,
): Run {
  return aRun(id, {
    issue: anIssue(identifier, { title }),
    status,
    agentKind: 'claude-code',
    model: 'claude-sonnet-4-5',
    startedAt: NOON - ago * MINUTE,
    endedAt: NOON - (ago - took) * MINUTE,
    turns,
    costUsd,
    tokens: { inputTokens: tokens, outputTokens: 0, totalTokens: tokens, cacheReadTokens: 0 },
    error: status === 'failed' ? 'agent: turn_failed: the API answered 529 overloaded three times in a row' : null,
  });
}

const TOLD: readonly (readonly [second: number, type: string, text: string, details?: RunEventDetails])[] = [
  [0, 'workspace_prepared', ''],
  [1, 'session_started', ''],
  [
    1,
    'turn_started',
    '',
    {
      kind: 'turn',
      turn: 1,
      prompt: 'You work on SHOP-389: Retry failed payouts.\n\nRead the issue, change the code, open a merge request.',
    },
  ],
  [9, 'message', 'I will look for the place where payouts are sent first.'],
  [14, 'tool_started', 'Bash: rg -n "markSent" src', call('c1', 'Bash', 'rg -n "markSent" src')],
  [
    15,
    'tool_ended',
    'Bash: rg -n "markSent" src',
    result('c1', 'Bash', 'rg -n "markSent" src', true, 640, 'src/payouts/send.ts:41:  markSent(payout);'),
  ],
  [31, 'tool_started', 'Bash: npm test -- payouts', call('c2', 'Bash', 'npm test -- payouts')],
  [
    44,
    'tool_ended',
    'Bash: npm test -- payouts failed',
    result(
      'c2',
      'Bash',
      'npm test -- payouts',
      false,
      12_400,
      '1 failing\n  payouts: retries after a refused transfer\n  expected 2 attempts, got 1',
    ),
  ],
  [
    71,
    'message',
    'A payout is marked as sent before the bank has answered.\n\nPlan:\n1. move the mark after the answer\n2. retry with backoff\n3. test both\n4. document the setting\n5. clean up',
  ],
  [80, 'tool_started', 'Edit: src/payouts/send.ts', call('c3', 'Edit', 'src/payouts/send.ts')],
  [82, 'tool_ended', 'Edit: src/payouts/send.ts', result('c3', 'Edit', 'src/payouts/send.ts', true, 90, '')],
  [
    90,
    'usage',
    '',
    {
      kind: 'usage',
      tokens: { inputTokens: 410_000, outputTokens: 9_000, totalTokens: 419_000, cacheReadTokens: 300_000 },
      costUsd: 0.61,
      requests: 6,
    },
  ],
  [1010, 'turn_completed', '', { kind: 'turn', turn: 1 }],
];

const EVENTS: readonly RunEvent[] = TOLD.map(([second, type, text, details]) => ({
  runId: 'r-31',
  at: NOON - 50 * MINUTE + second * 1000,
  type,
  text,
  ...(details && { details }),
}));

function call(toolId: string, name: string, input: string): RunEventDetails {
  return { kind: 'call', toolId, name, input };
}

function result(toolId: string, name: string, input: string, ok: boolean, durationMs: number, output: string): RunEventDetails {
  return { kind: 'result', toolId, name, input, ok, durationMs, output };
}
