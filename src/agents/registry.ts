import type { AgentKind } from '../ports/agent-kind.ts';
import { mockKind } from './mock/index.ts';

/** Every agent kind, alphabetical. */
export const AGENT_KINDS: readonly AgentKind[] = [mockKind];
