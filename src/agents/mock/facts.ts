import type { AgentFacts } from '../../ports/agent-kind.ts';
import { mockOptions } from './options.ts';

/** An agent that starts no process and changes no file: for trying things out, and for tests. */
export const mockFacts: AgentFacts = {
  kind: 'mock',
  defaultCommand: null,
  requiresCommand: false,
  tellsUsage: 'during-turn',
  get options() {
    return mockOptions();
  },
};
