import type { RunPlan } from '../domain/effect.ts';
import type { HookSettings } from '../domain/settings.ts';
import type { TemplateInput } from '../domain/template-input.ts';
import type { Agent, ToolServer } from '../ports/agent.ts';
import type { Tracker } from '../ports/tracker.ts';
import type { Workspaces } from '../ports/workspace.ts';
import type { Forge } from './reactions/forge.ts';

/** What one good workflow file amounts to: the adapters and the prompt. Replaced as a whole when the file changes. */
export interface Kit {
  readonly tracker: Tracker;
  readonly agent: Agent;
  readonly workspaces: Workspaces;
  readonly hooks: HookSettings;
  /** Null unless reactions are on. */
  readonly forge: Forge | null;
  /** The prompt of one turn. Throws a TemplateError. */
  readonly promptFor: (input: TemplateInput) => string;
  /** The tools this run's agent gets, or null for none. */
  readonly toolServerFor: (plan: RunPlan, workspacePath: string) => ToolServer | null;
}
