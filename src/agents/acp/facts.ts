import type { AgentFacts } from '../../ports/agent-kind.ts';
import { acpOptions } from './options.ts';

/** Any agent that speaks the Agent Client Protocol over its standard input and output. */
export const acpFacts: AgentFacts = {
  kind: 'acp',
  defaultCommand: null,
  requiresCommand: true,
  tellsUsage: 'after-turn',
  get options() {
    return acpOptions();
  },
};
