import type { Answer } from './fault.ts';
import type {
  CiConclusion,
  CiReport,
  LabelEvent,
  MergeStatus,
  ReviewComment,
  ReviewDecision,
  ScopeCheck,
} from './merge-request.ts';

/** What one look at a merge request brought back. Only what the due reactions need was read. */
export interface Findings {
  /** Empty when the tracker gives the issue no state, null when it no longer has it. */
  readonly issueState: Answer<string | null>;
  /** Set when it is closed while its state says that it is not finished. Then nothing but the request itself was read. */
  readonly issueClosed?: Answer<true>;
  /** Null when the forge no longer has the request. Read before everything else, so that a later push makes a merge fail. */
  readonly merge: Answer<MergeStatus | null>;
  readonly decision?: Answer<ReviewDecision>;
  /** To decide upon a merge. */
  readonly ciStatus?: Answer<CiConclusion>;
  /** For the CI reaction. */
  readonly ci?: Answer<CiReport>;
  readonly reviews?: Answer<readonly ReviewComment[]>;
  readonly botReviews?: Answer<readonly ReviewComment[]>;
  readonly labels?: Answer<readonly LabelEvent[]>;
  readonly scope?: Answer<ScopeCheck>;
  /** Whether the request is in the forge's own merge queue. */
  readonly queue?: Answer<boolean>;
  /** The name of the credential's own account; empty where the forge does not tell. */
  readonly self?: Answer<string>;
}

/** The last look, for people. */
export interface RequestReading {
  readonly at: number;
  readonly headSha: string;
  readonly url: string;
  readonly mergeability: string;
  readonly decision: string;
  /** `none` where there are no checks, empty where they were not read. */
  readonly ci: string;
  readonly merged: boolean;
  readonly draft: boolean;
}

export type Need = Exclude<keyof Findings, 'issueState' | 'issueClosed' | 'merge'>;
