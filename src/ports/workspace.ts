import type { AgentStatus, ScmRecord } from '../domain/model/agent-event.ts';
import type { HookSettings } from '../domain/model/settings.ts';

/** The issue's own directories on this machine. Failures are WorkspaceErrors. */
export interface Workspaces {
  /** What keeps workspaces from being made (root not writable), or null. */
  findProblem(): Promise<string | null>;
  /** Where the issue's workspace is or would be; null where it can have none. */
  pathFor(subject: WorkspaceSubject): Promise<string | null>;
  /** The directory names that an issue's workspace may have; none for an identifier that names none. */
  namesOf(identifier: string, tracker: string): readonly string[];
  /** Makes the directory when missing (then runs `after_create`) and clears what an earlier run left in `.foray/`. */
  prepare(subject: WorkspaceSubject, signal: AbortSignal): Promise<{ readonly path: string; readonly created: boolean }>;
  /** Runs `before_run`; a failure fails the attempt. */
  beforeRun(subject: WorkspaceSubject, signal: AbortSignal): Promise<void>;
  /** Before a further turn: an agent may have put a link to somewhere else in the place of its directory, or removed it. Then it throws. */
  requireOwn(subject: WorkspaceSubject, signal: AbortSignal): Promise<void>;
  /** Runs `after_run`; a failure is only logged. */
  afterRun(subject: WorkspaceSubject, signal: AbortSignal): Promise<void>;
  /**
   * Runs `before_remove` (a failure is only logged) and deletes the issue's own directory. One that nobody marked is moved
   * aside, unless we know to have made it; one that was made for another is left alone. A missing one is fine. The same for
   * those that were recorded under a root that was configured before.
   */
  remove(subject: RemovalSubject, signal: AbortSignal): Promise<Removal>;
  /** Runs one verification command in a workspace: whether it passed, and the end of what it printed. */
  verify(check: VerificationCheck, signal: AbortSignal): Promise<{ readonly ok: boolean; readonly output: string }>;
  /** What the agent said in `.foray/status`, or null. */
  readStatus(subject: WorkspaceSubject, path: string): Promise<AgentStatus | null>;
  /** The merge request named in `.foray/scm.json`, or null. */
  readScm(subject: WorkspaceSubject, path: string): Promise<ScmRecord | null>;
  /**
   * After `beforeRun`: what is there before the agent begins, as one text. Where a run before did not end well and left work
   * behind, what was there before that one: this is kept until `settleWork`.
   */
  workBefore(subject: WorkspaceSubject, signal: AbortSignal): Promise<string>;
  /** Whether something was done since then: a commit, a changed file or a pushed branch. */
  hasWorkSince(subject: WorkspaceSubject, before: string, signal: AbortSignal): Promise<boolean>;
  /** A run ended well: the next one is to show work of its own. */
  settleWork(subject: WorkspaceSubject): Promise<void>;
  /** After a good run: commits, pushes and opens the merge request, where that is set up. Null when there is none. */
  deliver(subject: WorkspaceSubject, signal: AbortSignal): Promise<ScmRecord | null>;
  /** The only branch whose merge request can be the issue's: the one that we push. Null where pushing is left to others. */
  ownBranch(subject: WorkspaceSubject): string | null;
  /** Names of the directories under the root. */
  list(): Promise<readonly string[]>;
  /** Whether a directory that was recorded is still there, also under a root that was configured before. */
  has(path: string): boolean;
}

export interface RemovalSubject extends WorkspaceSubject {
  /** Whether we know to have made it, marked or not. */
  readonly recorded?: boolean;
  /** Where on this machine it was made, as recorded. */
  readonly paths?: readonly string[];
  /** The hosts that hold it as far as we know; none for this machine. */
  readonly hosts?: readonly string[];
}

export interface Removal {
  readonly removed: boolean;
  /** What was removed or would have been; empty where there is nothing. */
  readonly path: string;
  /** Where a directory that nobody marked was moved to, or null. */
  readonly aside: string | null;
}

export interface VerificationCheck {
  readonly command: string;
  readonly path: string;
  readonly timeoutMs: number;
  readonly runId: string;
}

export interface WorkspaceSubject {
  /** Identity of the issue's tracker. */
  readonly tracker: string;
  readonly issueId: string;
  readonly identifier: string;
  readonly title: string;
  readonly attempt: number;
  readonly hooks: HookSettings;
}
