import type { Trouble } from '../pages/chronicle.ts';
import type { HoldReason } from '../../domain/model/hold.ts';
import type { IssueRef } from '../../domain/model/issue.ts';
import { issueArgument } from '../../domain/model/issue-name.ts';
import type { TroubleKind } from '../../domain/views/chronicle.ts';
import { remedyForPark, remedyForRun } from '../../domain/model/remedies.ts';

/** What is to be said about one issue. The names are those of the JSON answer. */
export interface Explanation {
  readonly identifier: string;
  readonly state: string;
  readonly would_dispatch: boolean;
  /** Null when it would be dispatched. */
  readonly reason: Reason | null;
  readonly detail: string | null;
  readonly since: string | null;
  readonly until: string | null;
  readonly remedy: string | null;
}

export type Reason = HoldReason | 'handed_off' | 'terminal' | 'unknown' | 'not_listed' | 'not_watched' | 'tracker_failed';

export interface Times {
  readonly since?: number;
  readonly until?: number;
}

/** It would be dispatched, is worked on, or is done with. */
export function isWell({ reason }: Explanation): boolean {
  return reason === null || WELL.has(reason);
}

const WELL: ReadonlySet<Reason> = new Set(['running', 'handing_off', 'completing', 'handed_off', 'terminal']);

export function entry(
  issue: Pick<IssueRef, 'identifier' | 'state'>,
  reason: Reason | null,
  detail: string | null,
  times: Times,
): Explanation {
  return {
    identifier: issue.identifier,
    state: issue.state,
    would_dispatch: reason === null,
    reason,
    detail,
    since: times.since === undefined ? null : new Date(times.since).toISOString(),
    until: times.until === undefined ? null : new Date(times.until).toISOString(),
    remedy: reason === null ? null : remedyFor(reason, issue.identifier, detail ?? ''),
  };
}

/** What a person can do; where that is nothing, what happens by itself, or null where it goes on as it should. */
type Remedy = string | { readonly nothing: string } | null;

const REMEDIES = {
  incomplete_record: 'give the issue a title and a state in the tracker',
  not_active: 'move the issue to one of tracker.active_states, or add its state to them',
  running: null,
  retrying: 'wait for its time, or: foray retry IDENTIFIER',
  handing_off: null,
  completing: null,
  tracker_quota: 'wait for the reset, or lower tracker.quota_reserve_percent',
  next_poll: { nothing: 'the next poll looks at it' },
  just_released: 'wait for the next poll',
  removing_workspace: { nothing: 'it is looked at again when the directory is gone' },
  ending_elsewhere: { nothing: 'it starts when its session under the leader before is surely over' },
  parked: 'change its state in the tracker, or: foray unpark IDENTIFIER',
  draining: 'wait for a standby to take over, or start the service again',
  paused: 'foray resume',
  preflight_failed: 'mend what the detail says; foray doctor tells more',
  agent_paused: 'wait until the limit of the agent lifts, or: foray retry IDENTIFIER',
  session_budget: 'raise agent.max_sessions, or: foray unpark IDENTIFIER',
  token_budget: 'raise agent.max_tokens, or: foray unpark IDENTIFIER',
  cost_budget: 'raise agent.max_cost_usd, or: foray unpark IDENTIFIER',
  untrusted_author: 'let somebody whom tracker.authors trusts open the issue, or add its author to tracker.authors',
  not_approved: 'set the label of tracker.approval_label on it, once somebody has read it',
  changed_after_approval: 'read it again, then take the label of tracker.approval_label off and set it anew',
  approval_not_read: 'wait: it is read whole before it starts',
  read_again: 'wait: it is read by itself before it starts again',
  blocked_by: 'finish what blocks it, or remove the link',
  blockers_unresolved:
    'let the account of tracker.api_key read what blocks the issue; in a file write blocked_by as a list; on Linear keep its labels and its relations to 25 each',
  blockers_not_read: 'wait: blockers are read for a few issues at each poll',
  no_global_slot: 'wait for a free slot, or raise agent.max_concurrent_agents',
  no_state_slot: 'wait for a free slot, or raise agent.max_concurrent_agents_by_state',
  handed_off: null,
  terminal: null,
  not_listed: 'change the issue so that tracker.query_filter matches it, or change the filter',
  not_watched: 'set db_path, or store.url where that is set, to a database of its own in this file, and start a service with it',
  tracker_failed: 'mend what the detail says; the service reads the tracker again by itself',
  unknown: 'check the identifier, tracker.project and what the token may see',
} as const satisfies Readonly<Record<Reason, Remedy>>;

/** What to do about the cause, before the issue is let go on. */
function causeRemedy(reason: Reason, detail: string): string | null {
  if (reason === 'retrying') return remedyForRun(detail);
  const [, parked = '', why = ''] = /^(\w+): (.*)/s.exec(detail) ?? [];
  return reason === 'parked' ? remedyForPark(parked, why) : null;
}

function remedyFor(reason: Reason, identifier: string, detail: string): string | null {
  const remedy = textOf(REMEDIES[reason])?.replace('IDENTIFIER', () => issueArgument(identifier)) ?? null;
  const cause = causeRemedy(reason, detail);
  return cause === null ? remedy : `${cause}; then ${remedy ?? ''}`;
}

function textOf(remedy: Remedy): string | null {
  return typeof remedy === 'object' && remedy !== null ? `nothing: ${remedy.nothing}` : remedy;
}

/** The same while no service runs: what only a service does begins with its start. */
export function unserved(found: Explanation): Explanation {
  const { reason, remedy } = found;
  if (reason === null || !BY_SERVICE.has(reason)) return found;
  const isTheirs = typeof REMEDIES[reason] === 'string';
  return { ...found, remedy: isTheirs ? `start the service, then ${remedy}` : 'start the service' };
}

const BY_SERVICE: ReadonlySet<Reason> = new Set([
  'retrying',
  'handing_off',
  'completing',
  'tracker_quota',
  'next_poll',
  'just_released',
  'removing_workspace',
  'ending_elsewhere',
  'agent_paused',
  'approval_not_read',
  'read_again',
  'blockers_not_read',
  'no_global_slot',
  'no_state_slot',
]);

/** The same while something keeps the whole service back: until that is over, nothing new is dispatched. */
export function keptBack(found: Explanation, troubles: readonly Trouble[]): Explanation {
  if (!found.would_dispatch) return found;
  const [first] = BARS.flatMap(([kind, reason]) =>
    troubles.filter(({ what }) => what === kind).map((trouble) => ({ ...trouble, reason })),
  );
  if (first === undefined) return found;
  const { reason, text, since, nextTryAt } = first;
  return entry(found, reason, text, { since, ...(nextTryAt !== null && { until: nextTryAt }) });
}

/** What keeps all issues back, the surest first. The preflight is judged with each issue. */
const BARS: readonly (readonly [TroubleKind, Reason])[] = [
  ['stopping', 'draining'],
  ['tracker_quota', 'tracker_quota'],
  ['tracker', 'tracker_failed'],
];

/** The same where the database belongs to the service of another file: nobody would dispatch it. */
export function unwatched(found: Explanation, why: string): Explanation {
  if (!found.would_dispatch) return found;
  return { ...found, would_dispatch: false, reason: 'not_watched', detail: why, remedy: REMEDIES.not_watched };
}
