import type { AgentFacts } from '../../ports/agent-kind.ts';
import { optionsSchema } from './options.ts';

export const DEFAULT_COMMAND = ['claude'] as const;

/** Anthropic's Claude Code, one `claude -p` for each turn. */
export const facts: AgentFacts = {
  kind: 'claude-code',
  defaultCommand: DEFAULT_COMMAND,
  requiresCommand: false,
  tellsUsage: 'during-turn',
  tellsVersion: true,
  login: {
    files: ['.claude/.credentials.json', '.claude.json'],
    variables: [
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_AUTH_TOKEN',
      'CLAUDE_CODE_OAUTH_TOKEN',
      'CLAUDE_CODE_USE_BEDROCK',
      'CLAUDE_CODE_USE_VERTEX',
    ],
    remedy: 'run "claude" once and log in, or set ANTHROPIC_API_KEY',
  },
  get options() {
    return optionsSchema();
  },
};
