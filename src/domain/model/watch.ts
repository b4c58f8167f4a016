import type { IssueRef } from './issue.ts';
import type { ReactionKind } from './settings.ts';

/** A merge request we look after because a run of ours left it behind. One per issue, durable. */
export interface Watch {
  readonly issue: IssueRef;
  readonly mergeRequest: MergeRequestRef;
  readonly armedAt: number;
  readonly attempt: number;
  readonly reactions: Readonly<Partial<Record<ReactionKind, ReactionProgress>>>;
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
export interface ReactionProgress {
  /** Turns or tries used of the budget. */
  readonly used: number;
  /** The head, comment set or journal mark that was last acted upon. */
  readonly mark: string;
  /** Comment ids that a run was given. */
  readonly given: readonly string[];
  readonly escalated: boolean;
  /** Reads that failed in a row. */
  readonly failures: number;
  readonly nextAt: number;
  /** For people: what it waits for. */
  readonly waitingFor: string;
}

export function isEscalated(watch: Watch): boolean {
  return Object.values(watch.reactions).some((progress) => progress.escalated);
}

/** A person took over or asked for another try: what had given up has its budget back and looks again at once. */
export function forgiven(watch: Watch, now: number): Watch {
  const reactions = Object.entries(watch.reactions).map(([kind, progress]) => [
    kind,
    progress.escalated ? { ...progress, used: 0, escalated: false, mark: '', nextAt: now } : progress,
  ]);
  return { ...watch, reactions: Object.fromEntries(reactions) as Watch['reactions'] };
}
