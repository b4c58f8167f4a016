import type { IssueRef } from './issue.ts';
import type { ReactionKind } from './settings.ts';

/** A merge request we look after because a run of ours left it behind. One per issue, durable. */
export interface Watch {
  readonly issue: IssueRef;
  readonly mergeRequest: MergeRequestRef;
  readonly armedAt: number;
  readonly attempt: number;
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

/** How far one reaction has come with this merge request. */
export interface ReactionProgress<Kind extends ReactionKind = ReactionKind> {
  /** Turns or tries used of the budget. */
  readonly used: number;
  /** What it last acted upon. */
  readonly mark: ReactionMarks[Kind];
  readonly escalated: boolean;
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
  /** How far the journal of label events was read: time, then id. */
  readonly label_commands: NoMark | { readonly at: 'read'; readonly upTo: string };
}

/** Comment ids that a run was given. */
export interface GivenComments {
  readonly at: 'given';
  readonly comments: readonly string[];
}

/**
 * waiting -> ready (one clean reading) -> merging (asked for) -> merged -> tidied (its branch was seen to). A refusal
 * leads back to waiting for a clean reading. A head that is pushed meanwhile starts over.
 */
export type MergeMark =
  | { readonly at: 'waiting' | 'merging' | 'merged' | 'refused'; readonly headSha: string }
  | { readonly at: 'ready'; readonly headSha: string; readonly decision: string }
  | { readonly at: 'tidied' };

export function isEscalated(watch: Watch): boolean {
  return Object.values(watch.reactions).some((progress) => progress.escalated);
}

/** A person took over or asked for another try: what had given up has its budget back and looks again at once. */
export function forgiven(watch: Watch, now: number): Watch {
  const reactions = Object.entries(watch.reactions).map(([kind, progress]) => [
    kind,
    progress.escalated ? { ...progress, used: 0, escalated: false, nextAt: now, mark: kept(progress.mark) } : progress,
  ]);
  return { ...watch, reactions: Object.fromEntries(reactions) as Watch['reactions'] };
}

/** What was given to a run and how far a journal was read stay known; a head may be acted upon again. */
function kept(mark: ReactionMarks[ReactionKind]): ReactionMarks[ReactionKind] {
  return mark.at === 'given' || mark.at === 'read' ? mark : NO_MARK;
}
