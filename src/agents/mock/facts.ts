import type { AgentFacts } from '../../ports/agent-kind.ts';
import { optionsSchema } from './options.ts';

/** An agent that starts no process and changes no file: for trying things out, and for tests. */
export const facts: AgentFacts = {
  kind: 'mock',
  defaultCommand: null,
  requiresCommand: false,
  tellsUsage: 'during-turn',
  get options() {
    return optionsSchema();
  },
};
