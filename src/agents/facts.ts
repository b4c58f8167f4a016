import type { AgentFacts } from '../ports/agent-kind.ts';
import { acpFacts } from './acp/facts.ts';
import { claudeCodeFacts } from './claude-code/facts.ts';
import { codexFacts } from './codex/facts.ts';
import { mockFacts } from './mock/facts.ts';

/** What every agent kind says of itself, alphabetical. Enough to check a workflow file. */
export const AGENT_FACTS: readonly AgentFacts[] = [acpFacts, claudeCodeFacts, codexFacts, mockFacts];
