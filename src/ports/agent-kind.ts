import type { ZodType } from 'zod';
import type { AgentSettings } from '../domain/model/settings.ts';
import type { Agent, AgentDeps } from './agent.ts';

/** One agent kind: its options and how it is built. */
export interface AgentKind {
  readonly kind: string;
  /** Program and arguments when `agent.command` is not set; null when the kind starts no program or has no default. */
  readonly defaultCommand: readonly string[] | null;
  /** True: `agent.command` must be set. */
  readonly requiresCommand: boolean;
  /** Strict schema of the kind's own top-level block. */
  readonly options: ZodType<Readonly<Record<string, unknown>>>;
  /** Builds the agent. `options` has passed the schema. */
  create(settings: AgentSettings, options: Readonly<Record<string, unknown>>, deps: AgentDeps): Agent;
}
