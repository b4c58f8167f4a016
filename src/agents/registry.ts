import type { AgentKind } from '../ports/agent-kind.ts';
import { acpKind } from './acp/index.ts';
import { claudeCodeKind } from './claude-code/index.ts';
import { codexKind } from './codex/index.ts';
import { mockKind } from './mock/index.ts';

/** Every agent kind, alphabetical. */
export const AGENT_KINDS: readonly AgentKind[] = [acpKind, claudeCodeKind, codexKind, mockKind];
