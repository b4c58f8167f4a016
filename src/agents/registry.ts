import type { AgentKind } from '../ports/agent-kind.ts';

/** Every agent kind, alphabetical. Each is loaded when it is asked for: a workflow has one. */
const KINDS: Readonly<Record<string, () => Promise<{ readonly agentKind: AgentKind }>>> = {
  acp: () => import('./acp/index.ts'),
  'claude-code': () => import('./claude-code/index.ts'),
  codex: () => import('./codex/index.ts'),
  mock: () => import('./mock/index.ts'),
};

/** One agent kind whole. */
export async function loadAgentKind(kind: string): Promise<AgentKind> {
  const load = KINDS[kind];
  if (!load) throw new Error(`unknown agent kind ${kind}`);
  return (await load()).agentKind;
}

/** All of them, in the order in which lists of kinds are shown. */
export function loadAgentKinds(): Promise<readonly AgentKind[]> {
  return Promise.all(Object.keys(KINDS).map(loadAgentKind));
}
