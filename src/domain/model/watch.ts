import type { IssueRef } from './issue.ts';
import type { ReactionKind } from './settings.ts';

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
  /** How often a run of ours began or ended since the watch began. */
  readonly runs: number;
  /** The head at the last look that no run of ours went on at, and that count at the time. */
  readonly head: { readonly sha: string; readonly runs: number } | null;
  /** Looks in a row at which the forge did not have it. */
  readonly missing: number;
}

/** Whether it is this issue's own. What a run says of its request is a claim, which the first look checks. */
export type Standing =
  | { readonly is: 'unread' | 'managed' }
  | { readonly is: 'unmanaged'; readonly cause: 'project' | 'branch' | 'fork'; readonly reason: string };

export const NOTHING_KNOWN: RequestFacts = { standing: { is: 'unread' }, head: null, runs: 0, missing: 0 };

/** Looks in a row without the request after which it counts as gone. */
const GONE_AFTER = 2;

/** What keeps the reactions from looking after the request at all, for people; null when nothing does. */
export function problemOf({ facts: { standing, missing } }: Watch): string | null {
  if (standing.is === 'unmanaged') return `merge request is not this issue's: ${standing.reason}`;
  return missing >= GONE_AFTER ? 'the forge no longer has the merge request' : null;
}

/** How far one reaction has come with this merge request. */
export interface ReactionProgress<Kind extends ReactionKind = ReactionKind> {
  /** Turns or tries used of the budget. */
  readonly used: number;
  /** What it last acted upon. */
  readonly mark: ReactionMarks[Kind];
  readonly escalated: boolean;
  /** A label command gave the budget back: its turns count against that of the commands. */
  readonly restored?: boolean;
  /** Reads that failed in a row. */
  readonly failures: number;
  readonly nextAt: number;
  /** For people: what it waits for. */
  readonly waitingFor: string;
}

/** Nothing has been acted upon yet. */
export const NO_MARK = { at: 'none' } as const;
type NoMark = typeof NO_MARK;

/** What each reaction remembers of what it did. */
export interface ReactionMarks {
  /** The head last seen, or the one that a fix turn was queued for. */
  readonly ci_failure: NoMark | { readonly at: 'seen' | 'fixing'; readonly headSha: string };
  readonly review_comments: NoMark | GivenComments;
  readonly bot_review: NoMark | GivenComments;
  /** The head whose conflict a turn was queued for. */
  readonly merge_conflicts: NoMark | { readonly at: 'resolving'; readonly headSha: string };
  readonly auto_merge: NoMark | MergeMark;
  /** The move of the issue was asked for. */
  readonly merge_completion: NoMark | { readonly at: 'begun' };
  /** How far the journal of label events was read: time, then id. `owed`: a label that was obeyed and is to be taken off. */
  readonly label_commands: NoMark | { readonly at: 'read'; readonly upTo: string; readonly owed?: string | undefined };
}

/** Comment ids that a run was given. */
export interface GivenComments {
  readonly at: 'given';
  readonly comments: readonly string[];
}

/**
 * waiting -> ready (one clean reading) -> merging (asked for) -> merged, or queued until the forge's own queue has merged it
 * -> tidied (its branch was seen to). A refusal leads back to waiting for a clean reading. A head that is pushed meanwhile
 * starts over.
 */
export type MergeMark =
  | { readonly at: 'waiting'; readonly headSha: string; readonly bareSince: number | null }
  | { readonly at: 'ready'; readonly headSha: string; readonly bareSince: number | null; readonly decision: string }
  | { readonly at: 'merging' | 'queued'; readonly headSha: string; readonly seen: MergeReading }
  /** `unsure`: the answer was an error, which does not tell that nothing was merged. */
  | { readonly at: 'refused'; readonly headSha: string; readonly seen: MergeReading; readonly unsure: boolean }
  | { readonly at: 'merged'; readonly headSha: string }
  | { readonly at: 'tidied' };

/** What a merge was tried on. A refusal holds until one of these changes. */
export interface MergeReading {
  readonly decision: string;
  readonly mergeability: string;
  readonly ci: string;
}

export function isEscalated(watch: Watch): boolean {
  return Object.values(watch.reactions).some((progress) => progress.escalated);
}

/** A person took over or asked for another try: what had given up has its budget back and looks again at once. */
export function forgiven(watch: Watch, now: number): Watch {
  const reactions = Object.entries(watch.reactions).map(([kind, progress]) => [
    kind,
    progress.escalated
      ? { ...progress, used: 0, escalated: false, restored: false, nextAt: now, mark: kept(progress.mark) }
      : progress,
  ]);
  return { ...watch, reactions: Object.fromEntries(reactions) as Watch['reactions'] };
}

/** What was given to a run and how far a journal was read stay known; a head may be acted upon again. */
function kept(mark: ReactionMarks[ReactionKind]): ReactionMarks[ReactionKind] {
  return mark.at === 'given' || mark.at === 'read' ? mark : NO_MARK;
}
