import type { AgentKind } from '../ports/agent-kind.ts';
import { agentKind as acp } from './acp/index.ts';
import { agentKind as claudeCode } from './claude-code/index.ts';
import { agentKind as codex } from './codex/index.ts';
import { agentKind as mock } from './mock/index.ts';

/** Every agent kind, alphabetical. */
export const AGENT_KINDS: readonly AgentKind[] = [acp, claudeCode, codex, mock];
