import type { AgentStatus } from '../domain/model/agent-status.ts';
import type { RunPlan } from '../domain/model/effect.ts';
import type { HookSettings } from '../domain/model/settings.ts';
import type { TemplateInput } from '../domain/model/template-input.ts';
import type { Agent, ToolServer } from '../ports/agent.ts';
import type { Tracker } from '../ports/tracker.ts';
import type { Workspaces } from '../ports/workspace.ts';
import type { Forge } from './reactions/forge.ts';

/** What one good workflow file amounts to: the adapters and the prompt. Replaced as a whole when the file changes. */
export interface Adapters {
  readonly tracker: Tracker;
  readonly agent: Agent;
  readonly workspaces: Workspaces;
  readonly hooks: HookSettings;
  /** Null unless reactions are on. */
  readonly forge: Forge | null;
  /** The prompt of one turn. Throws a TemplateError. */
  readonly promptFor: (input: TemplateInput) => string;
  readonly tools: RunTools;
}

/** The tools of a run's agent. */
export interface RunTools {
  /** Opens them and says how the agent starts them; null when there are none. */
  open(plan: RunPlan, tracker: Tracker): ToolServer | null;
  /** What the agent said through them about the outcome, or null. */
  statusOf(runId: string): AgentStatus | null;
  close(runId: string): void;
}
