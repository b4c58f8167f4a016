import type { IssueRef } from './issue.ts';
import type { ReactionKind, ReactionMarks } from './reaction.ts';

/** A merge request we look after because a run of ours left it behind. One per issue, durable. */
export interface Watch {
  readonly issue: IssueRef;
  readonly mergeRequest: MergeRequestRef;
  readonly armedAt: number;
  readonly attempt: number;
  readonly facts: RequestFacts;
  readonly reactions: { readonly [Kind in ReactionKind]?: ReactionProgress<Kind> };
}

export interface MergeRequestRef {
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  readonly branch: string;
  /** The head our run pushed. */
  readonly sha: string;
}

/** What was found out about the request, besides what the run said of it. */
export interface RequestFacts {
  readonly standing: Standing;
  /** The forge that has it; null where an earlier version did not store that. */
  readonly forge: string | null;
  /** How often a run of ours began or ended since the watch began. */
  readonly runs: number;
  /** The head at the last look that no run of ours went on at, and that count at the time. */
  readonly head: { readonly sha: string; readonly runs: number } | null;
  /** Looks in a row at which the forge did not have it. */
  readonly missing: number;
  /** Since when it was seen closed; null while it is open. */
  readonly closedAt: number | null;
  /** Somebody else merged it, which was told. */
  readonly mergedByOthers: boolean;
}

/** Whether it is this issue's own. What a run says of its request is a claim, which the first look checks. */
export type Standing =
  | { readonly is: 'unread' | 'managed' }
  | { readonly is: 'unmanaged'; readonly cause: 'project' | 'branch' | 'fork'; readonly reason: string };

export const NOTHING_KNOWN: RequestFacts = {
  standing: { is: 'unread' },
  forge: null,
  head: null,
  runs: 0,
  missing: 0,
  closedAt: null,
  mergedByOthers: false,
};

/** Looks in a row without the request after which it counts as gone. */
const GONE_AFTER = 2;

/** What keeps the reactions from looking after the request at all, for people; null when nothing does. */
export function problemOf({ facts: { standing, missing, closedAt } }: Pick<Watch, 'facts'>): string | null {
  if (standing.is === 'unmanaged') return `merge request is not this issue's: ${standing.reason}`;
  if (missing >= GONE_AFTER) return 'the forge no longer has the merge request';
  return closedAt === null ? null : 'the merge request is closed';
}

interface Asked {
  readonly at: number;
  readonly why: string;
  /** The state of the issue that a change is measured against, and how often a run of ours had begun or ended by then. */
  readonly state?: string;
  readonly runs?: number;
}

/** How far one reaction has come with this merge request. */
export interface ReactionProgress<Kind extends ReactionKind = ReactionKind> {
  /** Turns or tries used of the budget. */
  readonly used: number;
  /** What it last acted upon. */
  readonly mark: ReactionMarks[Kind];
  readonly escalated: boolean;
  /** When it last asked for a person, and why; absent where it never did, or an earlier version stored it. */
  readonly asked?: Asked;
  /** A label command gave the budget back: its turns count against that of the commands. */
  readonly restored?: boolean;
  /** Reads that failed in a row. */
  readonly failures: number;
  readonly nextAt: number;
  /** For people: what it waits for. */
  readonly waitingFor: string;
}

export function isEscalated(watch: Watch): boolean {
  return Object.values(watch.reactions).some((progress) => progress.escalated);
}
