import type { AgentStatus, ScmRecord } from '../domain/model/agent-status.ts';
import type { HookSettings } from '../domain/model/settings.ts';

/** The issue's own directories on this machine. Failures are WorkspaceErrors. */
export interface Workspaces {
  /** What keeps workspaces from being made (root not writable), or null. */
  findProblem(): Promise<string | null>;
  /** Where an identifier's workspace is or would be; null for an identifier that names none. */
  pathOf(identifier: string): string | null;
  /** The directory name alone. */
  nameOf(identifier: string): string | null;
  /** Makes the directory when missing (then runs `after_create`) and clears what an earlier run left in `.foray/`. */
  prepare(subject: WorkspaceSubject, signal: AbortSignal): Promise<{ readonly path: string; readonly created: boolean }>;
  /** Runs `before_run`; a failure fails the attempt. */
  beforeRun(subject: WorkspaceSubject, signal: AbortSignal): Promise<void>;
  /** Runs `after_run`; a failure is only logged. */
  afterRun(subject: WorkspaceSubject, signal: AbortSignal): Promise<void>;
  /** Runs `before_remove` (a failure is only logged) and deletes the directory. A missing one is fine. */
  remove(subject: WorkspaceSubject, signal: AbortSignal): Promise<{ readonly removed: boolean }>;
  /** Runs one verification command in a workspace: whether it passed, and the end of what it printed. */
  verify(check: VerificationCheck, signal: AbortSignal): Promise<{ readonly ok: boolean; readonly output: string }>;
  /** What the agent said in `.foray/status`, or null. */
  readStatus(path: string): Promise<AgentStatus | null>;
  /** The merge request named in `.foray/scm.json`, or null. */
  readScm(path: string): Promise<ScmRecord | null>;
  /** After a good run: commits, pushes and opens the merge request, where that is set up. Null when there is none. */
  deliver(subject: WorkspaceSubject, signal: AbortSignal): Promise<ScmRecord | null>;
  /** Names of the directories under the root. */
  list(): Promise<readonly string[]>;
}

export interface VerificationCheck {
  readonly command: string;
  readonly path: string;
  readonly timeoutMs: number;
  readonly runId: string;
}

export interface WorkspaceSubject {
  readonly issueId: string;
  readonly identifier: string;
  readonly title: string;
  readonly attempt: number;
  readonly hooks: HookSettings;
}

export type { AgentStatus, AgentStatusWord, ScmRecord } from '../domain/model/agent-status.ts';
