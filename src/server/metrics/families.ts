import { PARK_REASONS } from '../../domain/model/claim.ts';
import type { NoticeName, Notices } from '../../domain/model/notice.ts';
import type { ExitKind } from '../../domain/model/run.ts';
import { TRIGGERS, REACTION_KINDS } from '../../domain/reactions/registry.ts';
import { HOLD_REASONS } from '../../domain/model/hold.ts';
import { TRACKER_OPERATIONS } from '../../ports/tracker.ts';
import { oneSample, one, seconds, type MetricSample } from './samples.ts';

/** A family counted from notices. Issue ids and titles are never labels: their number has no bound. */
export interface Family {
  readonly name: string;
  readonly help: string;
  /** Each label with the values known beforehand; every combination of them shows from the start. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
  /** Set for a histogram; without it the family is a counter. */
  readonly buckets?: readonly number[];
  /** What each notice adds to it. */
  readonly on: { readonly [Name in NoticeName]?: (facts: Notices[Name]) => readonly MetricSample[] };
}

const EXIT_KINDS: readonly ExitKind[] = ['normal', 'error', 'cancelled'];

export const FAMILIES: readonly Family[] = [
  {
    name: 'svc_polls_total',
    help: 'Polls of the tracker, by how they ended.',
    labels: { result: ['success', 'error'] },
    on: { 'poll:tick:completed': () => one({ result: 'success' }), 'poll:tick:failed': () => one({ result: 'error' }) },
  },
  {
    name: 'svc_poll_duration_seconds',
    help: 'How long a poll took.',
    labels: {},
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    on: {
      'poll:tick:completed': ({ durationMs }) => oneSample(seconds(durationMs)),
      'poll:tick:failed': ({ durationMs }) => oneSample(seconds(durationMs)),
    },
  },
  {
    name: 'svc_dispatches_total',
    help: 'Sessions started, by what started them.',
    labels: { trigger: TRIGGERS },
    on: { 'issue:dispatch:started': ({ trigger }) => one({ trigger }) },
  },
  {
    name: 'svc_candidate_holds_total',
    help: 'Candidates not dispatched, once per candidate and poll, by why.',
    labels: { reason: HOLD_REASONS },
    on: {
      'poll:holds:counted': ({ counts }) => Object.entries(counts).map(([reason, value]) => ({ labels: { reason }, value })),
    },
  },
  {
    name: 'svc_worker_exits_total',
    help: 'Sessions ended, by how.',
    labels: { exit_kind: EXIT_KINDS },
    on: { 'run:worker:exited': ({ exitKind }) => one({ exit_kind: exitKind }) },
  },
  {
    name: 'svc_worker_duration_seconds',
    help: 'How long a session took.',
    labels: { exit_kind: EXIT_KINDS },
    buckets: [1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 14_400],
    on: { 'run:worker:exited': ({ exitKind, durationMs }) => oneSample(seconds(durationMs), { exit_kind: exitKind }) },
  },
  {
    name: 'svc_agent_runtime_seconds_total',
    help: 'Time spent in sessions that have ended.',
    labels: {},
    on: { 'run:worker:exited': ({ durationMs }) => oneSample(seconds(durationMs)) },
  },
  {
    name: 'svc_tokens_total',
    help: 'Tokens spent. Input includes cache_read.',
    labels: { type: ['input', 'output', 'cache_read'] },
    on: {
      'run:tokens:counted': ({ tokens }) => [
        ...oneSample(tokens.inputTokens, { type: 'input' }),
        ...oneSample(tokens.outputTokens, { type: 'output' }),
        ...oneSample(tokens.cacheReadTokens, { type: 'cache_read' }),
      ],
    },
  },
  {
    name: 'svc_cost_usd_total',
    help: 'What sessions cost in US dollars, by agent kind. A guess by token_rates counts when its session is over.',
    labels: { agent: [] },
    on: {
      'issue:dispatch:started': ({ agentKind }) => oneSample(0, { agent: agentKind }),
      'run:cost:counted': ({ agentKind, costUsd }) => oneSample(costUsd, { agent: agentKind }),
    },
  },
  {
    name: 'svc_retries_total',
    help: 'Entries put into the retry queue, by why.',
    labels: { trigger: [...TRIGGERS, 'handoff'] },
    on: { 'retry:entry:scheduled': ({ trigger }) => one({ trigger }) },
  },
  {
    name: 'svc_handoff_transitions_total',
    help: 'Moves to the handoff state, by what became of them.',
    labels: { result: ['success', 'error', 'refused', 'skipped'] },
    on: {
      'handoff:transition:succeeded': () => one({ result: 'success' }),
      'handoff:transition:failed': () => one({ result: 'error' }),
      'handoff:transition:refused': () => one({ result: 'refused' }),
      'handoff:transition:skipped': () => one({ result: 'skipped' }),
    },
  },
  {
    name: 'svc_in_progress_transitions_total',
    help: 'Moves to the in-progress state, by what became of them.',
    labels: { result: ['success', 'refused'] },
    on: {
      'issue:in-progress:succeeded': () => one({ result: 'success' }),
      'issue:in-progress:refused': () => one({ result: 'refused' }),
    },
  },
  {
    name: 'svc_tracker_requests_total',
    help: 'Requests to the tracker, by the operation that made them.',
    labels: { operation: TRACKER_OPERATIONS, result: ['success', 'error'] },
    on: { 'tracker:request:made': ({ operation, result }) => one({ operation, result }) },
  },
  {
    name: 'svc_forge_requests_total',
    help: 'Requests of reactions and deliveries to the forge.',
    labels: { kind: [], result: ['success', 'error'] },
    on: { 'forge:request:made': ({ kind, result }) => one({ kind, result }) },
  },
  {
    name: 'svc_polls_postponed_total',
    help: 'Polls that waited because the quota of the tracker could not pay for them.',
    labels: {},
    on: { 'poll:tick:postponed': () => one({}) },
  },
  {
    name: 'svc_tracker_comments_total',
    help: 'Tries to post a comment.',
    labels: { result: ['success', 'error'] },
    on: {
      'outbox:write:sent': ({ kind }) => (kind === 'comment' ? one({ result: 'success' }) : []),
      'outbox:write:failed': ({ kind }) => (kind === 'comment' ? one({ result: 'error' }) : []),
    },
  },
  {
    name: 'svc_notifications_total',
    help: 'Tries to tell somebody, by what became of them. Given up: for good. Left out: too many waited already.',
    labels: { result: ['success', 'error', 'given_up', 'left_out'] },
    on: {
      'notification:message:sent': () => one({ result: 'success' }),
      'notification:message:failed': ({ gaveUp }) => one({ result: gaveUp ? 'given_up' : 'error' }),
      'notification:message:dropped': () => one({ result: 'left_out' }),
    },
  },
  {
    name: 'svc_reconciliation_actions_total',
    help: 'What re-reading the tracker led to: a session stopped, a session kept, a workspace removed.',
    labels: { action: ['stop', 'keep', 'cleanup'] },
    on: {
      'reconcile:issue:stopped': () => one({ action: 'stop' }),
      'reconcile:issue:kept': () => one({ action: 'keep' }),
      'workspace:directory:removed': () => one({ action: 'cleanup' }),
    },
  },
  {
    name: 'svc_issue_parks_total',
    help: 'Issues set aside for a person, by why.',
    labels: { reason: PARK_REASONS },
    on: {
      'issue:park:entered': ({ reason }) => one({ reason }),
      'reaction:escalation:raised': () => one({ reason: 'escalated' }),
    },
  },
  {
    name: 'svc_workflow_reloads_total',
    help: 'Edits of the workflow file, taken over or refused.',
    labels: { result: ['success', 'error'] },
    on: {
      'workflow:file:reloaded': () => one({ result: 'success' }),
      'workflow:file:rejected': () => one({ result: 'error' }),
    },
  },
  {
    name: 'svc_agent_pauses_total',
    help: 'Pauses of an agent kind by its usage limit.',
    labels: { agent: [] },
    on: { 'agent:kind:paused': ({ agentKind }) => one({ agent: agentKind }) },
  },
  {
    name: 'svc_reaction_checks_total',
    help: 'Looks at a merge request, by the reaction that looked and what it found.',
    labels: { kind: [], result: [] },
    on: { 'reaction:check:completed': ({ kind, result }) => one({ kind, result }) },
  },
  {
    name: 'svc_reaction_turns_total',
    help: 'Runs queued by a reaction.',
    labels: { kind: REACTION_KINDS },
    on: { 'reaction:turn:queued': ({ kind }) => one({ kind }) },
  },
  {
    name: 'svc_reaction_escalations_total',
    help: 'Times a reaction gave up and asked for a person.',
    labels: { kind: REACTION_KINDS },
    on: { 'reaction:escalation:raised': ({ kind }) => one({ kind }) },
  },
  {
    name: 'svc_merges_total',
    help: 'Tries to merge a merge request.',
    labels: { result: ['success', 'error'] },
    on: {
      'reaction:merge:succeeded': ({ byUs }) => (byUs ? one({ result: 'success' }) : []),
      'reaction:merge:failed': () => one({ result: 'error' }),
    },
  },
];
