import type { HookSettings } from '../domain/model/settings.ts';
import type { RunAdapters } from '../ports/runner.ts';
import type { Notifier } from '../ports/notifier.ts';
import type { Forge } from './reactions/forge.ts';

/** What one good workflow file amounts to: the adapters and the prompt. Replaced as a whole when the file changes. */
export interface Adapters extends RunAdapters {
  /** Of the tracker. */
  readonly identity: string;
  readonly hooks: HookSettings;
  /** Null unless reactions are on. */
  readonly forge: Forge | null;
  readonly notifier: Notifier;
}
