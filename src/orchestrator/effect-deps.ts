import type { Event } from '../domain/model/event.ts';
import type { Issue } from '../domain/model/issue.ts';
import type { Notice } from '../domain/model/notice.ts';
import type { Spent } from '../domain/model/run.ts';
import type { Settings } from '../domain/model/settings.ts';
import type { Runner } from '../ports/runner.ts';
import type { HookSettings } from '../domain/model/settings.ts';
import type { RunAdapters } from '../ports/runner.ts';
import type { Notifier } from '../ports/events.ts';
import type { Forge } from './reactions/forge.ts';

export interface InterpretDeps {
  /** The adapters of the workflow in force. */
  readonly adapters: () => Adapters;
  /** Those that a run began with. */
  readonly adaptersOf: (settings: Settings) => Adapters;
  readonly runner: Runner;
  readonly report: (event: Event) => void;
  readonly announce: (notice: Notice) => void;
  readonly findPreflightProblem: () => Promise<string | null>;
  /** What issues of this tracker have used up, as stored. */
  readonly spentOn: (issueIds: readonly string[]) => Promise<readonly Spent[]>;
  /** The candidates of a poll in the order of dispatch. */
  readonly inOrder: (issues: readonly Issue[]) => Promise<readonly Issue[]>;
  /** Aborted by a forced stop: everything under way ends. */
  readonly killed: AbortSignal;
}

/** What one good workflow file amounts to: the adapters and the prompt. Replaced as a whole when the file changes. */
export interface Adapters extends RunAdapters {
  /** Of the tracker. */
  readonly identity: string;
  readonly hooks: HookSettings;
  /** Null unless reactions are on. */
  readonly forge: Forge | null;
  readonly notifier: Notifier;
}
