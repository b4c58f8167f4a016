import type { AgentFacts } from '../ports/agent-kind.ts';
import { facts as acp } from './acp/facts.ts';
import { facts as claudeCode } from './claude-code/facts.ts';
import { facts as codex } from './codex/facts.ts';
import { facts as mock } from './mock/facts.ts';

/** What every agent kind says of itself, alphabetical. Enough to check a workflow file. */
export const AGENT_FACTS: readonly AgentFacts[] = [acp, claudeCode, codex, mock];
