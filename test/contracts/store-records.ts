import * as fc from 'fast-check';
import { PARK_REASONS } from '../../src/domain/model/claim.ts';
import { LASTING, NOTIFICATION_EVENTS, type Told } from '../../src/domain/model/notification.ts';
import type { Approval, AgentPause, Claim, Handoff, OutboxEntry, Parked, WorkspaceRecord } from '../../src/domain/model/claim.ts';
import type { IssueRef } from '../../src/domain/model/issue.ts';
import type { Run, RunEvent, RunEventDetails, RunStatus, Spent, Trigger } from '../../src/domain/model/run.ts';
import { REACTION_KINDS } from '../../src/domain/reactions/registry.ts';
import { type ReactionContext, type ReactionKind, NO_MARK, type ReactionMarks } from '../../src/domain/model/reaction.ts';
import type { ReactionProgress, Watch } from '../../src/domain/model/watch.ts';
import type { Write } from '../../src/ports/store.ts';

/** Wild records for the store's contract. Few ids, so that random sequences meet the same record again. */

const ids = fc.constantFrom('1', '2', 'a/b#3', 'ü-4');
/** Any text: NUL, lone surrogates and control characters too, as trackers and agents may send them. */
const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('', '\0', 'a\0b', '\uD800', '\u0001"x"', '{}'));
const moment = numberUpTo(4e12);
const count = fc.integer({ min: 0, max: 1000 });
const tokens = fc.integer({ min: 0, max: 1e12 });
const cost = numberUpTo(1e6);
const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });

/** Whole or with a fraction, but none so small (nor -0) that only floating-point theory knows it. */
function numberUpTo(max: number): fc.Arbitrary<number> {
  return fc.oneof(fc.integer({ min: 0, max }), fc.double({ min: 1e-9, max, noNaN: true }));
}

const TRIGGERS = Object.keys({
  fresh: 0,
  error: 0,
  continuation: 0,
  restart: 0,
  ci_failure: 0,
  review_comments: 0,
  bot_review: 0,
  merge_conflicts: 0,
  label_commands: 0,
} satisfies Record<Trigger, 0>) as Trigger[];

const STATUSES = Object.keys({
  running: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  interrupted: 0,
  budget_stopped: 0,
  blocked: 0,
} satisfies Record<RunStatus, 0>) as RunStatus[];

const issue: fc.Arbitrary<IssueRef> = fc.record({
  id: ids,
  identifier: text,
  displayIdentifier: nullable(text),
  title: text,
  url: text,
  state: text,
});

const reviewComments = fc.array(
  fc.record({
    id: text,
    file: text,
    startLine: nullable(count),
    endLine: nullable(count),
    reviewer: text,
    body: text,
  }),
  { maxLength: 2 },
);

const reaction: fc.Arbitrary<ReactionContext> = fc.record(
  {
    ciFailure: fc.record({
      status: text,
      checkRuns: fc.array(fc.record({ name: text, status: text, conclusion: text, detailsUrl: text }), { maxLength: 2 }),
      failingCount: count,
      logExcerpt: text,
      ref: text,
    }),
    reviewComments,
    botReviewComments: reviewComments,
    mergeConflict: fc.record({ prNumber: count, branch: text, headSha: text, base: text }),
    labelCommand: fc.record({
      command: text,
      prNumber: count,
      owner: text,
      repo: text,
      branch: text,
      actor: text,
      requestedAt: text,
    }),
  },
  { requiredKeys: [] },
);

const handoff: fc.Arbitrary<Handoff> = fc.record({ runId: text, target: text });
const start = { trigger: fc.constantFrom(...TRIGGERS), reaction: nullable(reaction) };
const claimBase = { issue, attempt: count, failures: count, refusals: count, sessionId: nullable(text), since: moment };

const claim: fc.Arbitrary<Claim> = fc.oneof(
  fc.record({ ...claimBase, phase: fc.constant('running' as const), runId: text, stoppedBy: nullable(text), ...start }),
  fc.record({
    ...claimBase,
    phase: fc.constant('waiting' as const),
    dueAt: moment,
    error: text,
    then: fc.oneof(
      fc.record({ kind: fc.constant('run' as const), ...start }),
      fc.record({ kind: fc.constant('handoff' as const), handoff }),
    ),
  }),
  fc.record({ ...claimBase, phase: fc.constant('handing-off' as const), handoff }),
);

const parked: fc.Arbitrary<Parked> = fc.record({
  issue,
  reason: fc.constantFrom(...PARK_REASONS),
  detail: text,
  parkedAt: moment,
  stateAtPark: nullable(text),
});

const entry: fc.Arbitrary<OutboxEntry> = fc.record({
  id: ids,
  issue,
  write: fc.oneof(
    fc.record({ kind: fc.constant('comment' as const), text }),
    fc.record({ kind: fc.constant('label' as const), label: text }),
    fc.record({
      kind: fc.constant('notification' as const),
      target: text,
      event: fc.constantFrom(...NOTIFICATION_EVENTS),
      over: fc.boolean(),
      at: moment,
      text,
      page: text,
      error: text,
    }),
  ),
  tries: count,
  dueAt: moment,
});

const workspace: fc.Arbitrary<WorkspaceRecord> = fc.record({
  path: ids,
  issueId: ids,
  identifier: text,
  title: text,
  lastUsedAt: moment,
});

const spent: fc.Arbitrary<Spent> = fc.record({ issueId: ids, sessions: count, tokens, costUsd: cost });
const pause: fc.Arbitrary<AgentPause> = fc.record({ agentKind: ids, until: moment, reason: text });

const head = <At extends string>(...at: At[]) => fc.record({ at: fc.constantFrom(...at), headSha: text });
const given = fc.record({ at: fc.constant('given' as const), comments: fc.array(text, { maxLength: 3 }) });

const seen = fc.record({ decision: text, mergeability: text, ci: text });

/** A mark that may have something to say of earlier tries. */
function tried<T extends object>(mark: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return fc
    .tuple(fc.record(mark), fc.record({ unsureSince: moment, postponed: count, told: text }, { requiredKeys: [] }))
    .map(([known, more]) => {
      return { ...(known as T), ...more };
    });
}

/** Any mark of each reaction. */
const MARKS: { readonly [Kind in ReactionKind]: fc.Arbitrary<ReactionMarks[Kind]> } = {
  ci_failure: head('seen', 'fixing'),
  review_comments: given,
  bot_review: given,
  merge_conflicts: head('resolving'),
  auto_merge: fc.oneof(
    fc.record({ at: fc.constant('merged' as const), headSha: text, since: moment }, { requiredKeys: ['at', 'headSha'] }),
    tried({ at: fc.constant('waiting' as const), headSha: text, bareSince: nullable(moment) }),
    tried({ at: fc.constant('ready' as const), headSha: text, bareSince: nullable(moment), decision: text }),
    tried({ at: fc.constant('merging' as const), headSha: text, seen }),
    fc.record({ at: fc.constant('queued' as const), headSha: text, seen }),
    tried({ at: fc.constant('refused' as const), headSha: text, seen, unsure: fc.boolean() }),
    fc.constant({ at: 'tidied' as const }),
  ),
  merge_completion: fc.record({ at: fc.constant('begun' as const), left: text }, { requiredKeys: ['at'] }),
  label_commands: fc.oneof(
    fc.record({ at: fc.constant('read' as const), upTo: text }),
    fc.record({ at: fc.constant('queued' as const), upTo: text, order: text, label: text }),
  ),
};

const progressOf = <Kind extends ReactionKind>(kind: Kind): fc.Arbitrary<ReactionProgress<Kind>> =>
  fc.record(
    {
      used: count,
      mark: fc.oneof(fc.constant(NO_MARK), MARKS[kind]),
      escalated: fc.boolean(),
      asked: fc.record({ at: moment, why: text, state: text, runs: count }, { requiredKeys: ['at', 'why'] }),
      failures: count,
      nextAt: moment,
      waitingFor: text,
    },
    { requiredKeys: ['used', 'mark', 'escalated', 'failures', 'nextAt', 'waitingFor'] },
  ) as fc.Arbitrary<ReactionProgress<Kind>>;

const reactions: fc.Arbitrary<Watch['reactions']> = fc.record(
  Object.fromEntries(REACTION_KINDS.map((kind) => [kind, progressOf(kind)])),
  { requiredKeys: [] },
);

const watch: fc.Arbitrary<Watch> = fc.record({
  issue,
  mergeRequest: fc.record({ owner: text, repo: text, number: count, branch: text, sha: text }),
  armedAt: moment,
  attempt: count,
  facts: fc.record({
    standing: fc.oneof(
      fc.record({ is: fc.constantFrom('unread' as const, 'managed' as const) }),
      fc.record({
        is: fc.constant('unmanaged' as const),
        cause: fc.constantFrom('project' as const, 'fork' as const),
        reason: text,
      }),
    ),
    head: nullable(fc.record({ sha: text, runs: count })),
    runs: count,
    missing: count,
    forge: fc.option(text),
    closedAt: fc.option(count),
    mergedByOthers: fc.boolean(),
  }),
  reactions,
});

const run: fc.Arbitrary<Run> = fc.record({
  id: ids,
  issue,
  attempt: count,
  trigger: start.trigger,
  agentKind: text,
  status: fc.constantFrom(...STATUSES),
  startedAt: moment,
  endedAt: nullable(moment),
  turns: count,
  sessionId: text,
  workspacePath: text,
  model: nullable(text),
  tokens: fc.record({ inputTokens: tokens, outputTokens: tokens, totalTokens: tokens, cacheReadTokens: tokens }),
  tokensMeasured: fc.boolean(),
  costUsd: nullable(cost),
  error: nullable(text),
});

const details: fc.Arbitrary<RunEventDetails> = fc.oneof(
  fc.record({ kind: fc.constant('turn' as const), turn: count, prompt: text }),
  fc.record({ kind: fc.constant('turn' as const), turn: count }),
  fc.record({ kind: fc.constant('call' as const), toolId: text, name: text, input: text }),
  fc.record({
    kind: fc.constant('result' as const),
    toolId: text,
    name: text,
    input: text,
    ok: fc.boolean(),
    durationMs: nullable(count),
    output: text,
  }),
  fc.record({
    kind: fc.constant('usage' as const),
    tokens: fc.record({ inputTokens: tokens, outputTokens: tokens, totalTokens: tokens, cacheReadTokens: tokens }),
    costUsd: nullable(cost),
    requests: count,
  }),
);
const approval: fc.Arbitrary<Approval> = fc.record({ issueId: ids, label: text, digest: text, labelling: text, seenAt: moment });
const event: fc.Arbitrary<RunEvent> = fc.record(
  { runId: ids, at: moment, type: text, text, details },
  { requiredKeys: ['runId', 'at', 'type', 'text'] },
);

const told: fc.Arbitrary<Told> = fc.record({ subject: fc.constantFrom(...LASTING), what: text });

/** Any write there is; `satisfies` keeps the table complete. */
const WRITES = {
  claim: claim.map((value) => ({ write: 'claim' as const, claim: value })),
  release: ids.map((issueId) => ({ write: 'release' as const, issueId })),
  park: parked.map((value) => ({ write: 'park' as const, parked: value })),
  unpark: ids.map((issueId) => ({ write: 'unpark' as const, issueId })),
  run: run.map((value) => ({ write: 'run' as const, run: value })),
  'interrupt-runs': moment.map((at) => ({ write: 'interrupt-runs' as const, at })),
  'run-events': fc
    .array(event, { maxLength: 3 })
    .map((events) => ({ write: 'run-events' as const, events, maxBytes: 1_000_000 })),
  outbox: entry.map((value) => ({ write: 'outbox' as const, entry: value })),
  'outbox-done': ids.map((id) => ({ write: 'outbox-done' as const, id })),
  workspace: workspace.map((value) => ({ write: 'workspace' as const, workspace: value })),
  'workspace-gone': ids.map((path) => ({ write: 'workspace-gone' as const, path })),
  spent: spent.map((value) => ({ write: 'spent' as const, spent: value })),
  pause: pause.map((value) => ({ write: 'pause' as const, pause: value })),
  resume: ids.map((agentKind) => ({ write: 'resume' as const, agentKind })),
  watch: watch.map((value) => ({ write: 'watch' as const, watch: value })),
  unwatch: ids.map((issueId) => ({ write: 'unwatch' as const, issueId })),
  approve: approval.map((value) => ({ write: 'approve' as const, approval: value })),
  unapprove: ids.map((issueId) => ({ write: 'unapprove' as const, issueId })),
  'operator-pause': nullable(fc.record({ reason: text, by: text, since: moment })).map((value) => ({
    write: 'operator-pause' as const,
    pause: value,
  })),
  told: told.map((value) => ({ write: 'told' as const, told: value })),
  'told-over': fc.constantFrom(...LASTING).map((subject) => ({ write: 'told-over' as const, subject })),
  answer: fc.record({ message: text, at: moment }).map(({ message, at }) => ({
    write: 'answer' as const,
    requestId: '7',
    answer: { outcome: 'taken' as const, message },
    at,
  })),
} satisfies { [K in Write['write']]: fc.Arbitrary<Extract<Write, { write: K }>> };

export const anyWrite: fc.Arbitrary<Write> = fc.oneof(...Object.values(WRITES));
/** Units of work, in order. */
export const anyHistory: fc.Arbitrary<Write[][]> = fc.array(fc.array(anyWrite, { maxLength: 6 }), { maxLength: 8 });
