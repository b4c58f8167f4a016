import type { AgentFacts } from '../../ports/agent-kind.ts';
import { optionsSchema } from './options.ts';

/** Any agent that speaks the Agent Client Protocol over its standard input and output. */
export const facts: AgentFacts = {
  kind: 'acp',
  defaultCommand: null,
  requiresCommand: true,
  tellsUsage: 'after-turn',
  get options() {
    return optionsSchema();
  },
};
