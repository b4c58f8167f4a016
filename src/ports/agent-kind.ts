import type { ZodType } from 'zod';
import type { AgentSettings } from '../domain/model/settings.ts';
import type { Agent, AgentDeps } from './agent.ts';

/** What an agent kind says of itself. */
export interface AgentFacts {
  readonly kind: string;
  /** Program and arguments when `agent.command` is not set; null when the kind starts no program or has no default. */
  readonly defaultCommand: readonly string[] | null;
  /** True: `agent.command` must be set. */
  readonly requiresCommand: boolean;
  /** Whether a session's tokens and cost are known as they grow, or only when a turn has ended: then a ceiling cannot stop a turn. */
  readonly tellsUsage: 'during-turn' | 'after-turn';
  /** Its program answers `--version`. */
  readonly tellsVersion?: true;
  /** How one tells whether its program is logged in; absent where that cannot be seen from outside. */
  readonly login?: AgentLogin;
  /** Strict schema of the kind's own top-level block. */
  readonly options: ZodType<Readonly<Record<string, unknown>>>;
}

/** One agent kind whole: its facts, and how it is built. */
export interface AgentKind extends AgentFacts {
  /** Builds the agent. `options` has passed the schema. */
  create(settings: AgentSettings, options: Readonly<Record<string, unknown>>, deps: AgentDeps): Agent;
}

/** Where an agent keeps its login by convention. */
export interface AgentLogin {
  /** Relative to the home directory; one of them is enough. */
  readonly files: readonly string[];
  /** Variables that take the place of a file. */
  readonly variables: readonly string[];
  /** What to do when there is none. */
  readonly remedy: string;
}
