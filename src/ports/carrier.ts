import type { OpenRequest, OverRequest } from './scm.ts';

/**
 * Reaches the remote of `workspace.repo` for a run on a machine that has no credential for it. What passes is commits, in
 * parts of bounded size. All of it is about the run's own issue: its branch alone is pushed and proposed.
 */
export interface Carrier {
  /** Looks at the remote and packs what the other side lacks of it. */
  pack(have: readonly string[], signal: AbortSignal): Promise<Packed>;
  /** A part of the last pack, as base64. */
  readPack(at: number, signal: AbortSignal): Promise<string>;
  /** A part of the work that is to be pushed, as base64, in order. */
  addWork(at: number, part: string, signal: AbortSignal): Promise<void>;
  /** Pushes a commit to the branch, out of the work that was added or is known. */
  push(sha: string, signal: AbortSignal): Promise<PushAnswer>;
  /** The open merge request of what was pushed; opens one where there is none. */
  propose(signal: AbortSignal): Promise<OpenRequest>;
}

export interface Packed {
  /** Every branch and tag of the remote, by its full name. */
  readonly refs: readonly (readonly [name: string, sha: string])[];
  /** What requests are merged into. */
  readonly baseBranch: string;
  /** What was pushed by us to the branch the last time; null for nothing. */
  readonly pushed: string | null;
  /** 0 when nothing is lacking. */
  readonly bytes: number;
}

export type PushAnswer =
  | { readonly kind: 'pushed' }
  /** What git said. */
  | { readonly kind: 'refused'; readonly said: string }
  /** Nothing was pushed: the merge request was merged or closed since the run began. */
  | { readonly kind: 'over'; readonly over: OverRequest };

/** How much is carried at once, before it is encoded. */
export const PART_BYTES = 2 * 1024 * 1024;
/** More than this is no repository to carry through a database. */
export const MOST_BYTES = 2 * 1024 * 1024 * 1024;
