import type { AgentFacts } from '../../ports/agent-kind.ts';
import { optionsSchema } from './options.ts';

export const DEFAULT_COMMAND = ['codex', 'app-server'] as const;

/** OpenAI's Codex, by its app server: one process for all turns of a session. */
export const facts: AgentFacts = {
  kind: 'codex',
  defaultCommand: DEFAULT_COMMAND,
  requiresCommand: false,
  tellsUsage: 'during-turn',
  tellsVersion: true,
  login: {
    files: ['.codex/auth.json'],
    variables: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
    remedy: 'run "codex login", or set OPENAI_API_KEY',
  },
  get options() {
    return optionsSchema();
  },
};
