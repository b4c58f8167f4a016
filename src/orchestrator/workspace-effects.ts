import type { WorkspaceRecord } from '../domain/model/claim.ts';
import type { EffectNamed } from '../domain/model/effect.ts';
import type { AnswerTo, TerminalIssue } from '../domain/model/event.ts';
import { hostPathOf } from '../domain/model/host-path.ts';
import { stateIn } from '../domain/model/issue.ts';
import type { Workspaces } from '../ports/workspace.ts';
import { answer } from './answer.ts';
import type { InterpretDeps } from './effect-deps.ts';

/** More issues than this are cheaper to list than to ask about one by one. */
const FEW_WORKSPACES = 100;

/** Only issues whose workspace is still here matter: without any the tracker is not asked. */
export async function readTerminal(
  deps: InterpretDeps,
  effect: EffectNamed<'read-terminal'>,
): Promise<AnswerTo<'read-terminal'>> {
  const { tracker, workspaces, identity } = deps.adapters();
  const recorded = effect.workspaces.filter(({ path }) => isThere(workspaces, path));
  const names = new Set([...(await workspaces.list()), ...recorded.map(({ path }) => directoryName(path))]);
  const known = effect.workspaces.filter(({ path }) => names.has(directoryName(path)));
  if (tracker.finishedAreCostly && known.length <= FEW_WORKSPACES && new Set(known.map(({ path }) => path)).size === names.size)
    return { type: 'cleanup-answered', issues: { ok: true, value: await finishedAmong(deps, known, effect.states) } };
  const terminal = names.size === 0 ? [] : await tracker.fetchIssuesByStates(effect.states, deps.killed);
  const issues = terminal.filter((issue) => workspaces.namesOf(issue.identifier, identity).some((name) => names.has(name)));
  return { type: 'cleanup-answered', issues: { ok: true, value: issues } };
}

/** The issues of known workspaces that are finished now. */
async function finishedAmong(
  deps: InterpretDeps,
  known: readonly WorkspaceRecord[],
  states: readonly string[],
): Promise<readonly TerminalIssue[]> {
  if (known.length === 0) return [];
  const { tracker } = deps.adapters();
  const current = await tracker.fetchIssueStatesByIds(
    known.map(({ issueId }) => issueId),
    deps.killed,
  );
  return known
    .map(({ issueId: id, identifier, title }) => ({ id, identifier, title, state: current.get(id) ?? '' }))
    .filter(({ state }) => stateIn(states, state));
}

/** Asks only about workspaces that are still there, and about what waits. */
export async function sweep(deps: InterpretDeps, { workspaces, waiting }: EffectNamed<'sweep'>): Promise<AnswerTo<'sweep'>> {
  const adapters = deps.adapters();
  const there = new Set(workspaces.filter(({ path }) => isThere(adapters.workspaces, path)));
  const ids = [...[...there].map(({ issueId }) => issueId), ...waiting];
  const missing = workspaces.filter((workspace) => !there.has(workspace)).map(({ path }) => path);
  const states = ids.length === 0 ? new Map<string, string>() : await adapters.tracker.fetchIssueStatesByIds(ids, deps.killed);
  return { type: 'sweep-answered', states: { ok: true, value: states }, missing, waiting };
}

/** Of another host nobody knows from here; it is asked when the workspace is to be removed. */
function isThere(workspaces: Pick<Workspaces, 'has'>, path: string): boolean {
  return hostPathOf(path).host !== null || workspaces.has(path);
}

function directoryName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? '';
}

/** Runs its hook and removes it; a failure is an answer too. */
export async function removeIssueWorkspace(
  deps: InterpretDeps,
  effect: EffectNamed<'remove-workspace'>,
): Promise<AnswerTo<'remove-workspace'>> {
  const { workspaces, hooks, identity: tracker } = deps.adapters();
  const { issueId, identifier, title, why, recorded, paths, hosts } = effect;
  const removal = await answer(
    workspaces.remove({ tracker, issueId, identifier, title, attempt: 0, hooks, recorded, paths, hosts }, deps.killed),
  );
  if (!removal.ok) return { type: 'workspace-removed', issueId, identifier, path: '', why, aside: null, outcome: removal };
  const { removed, path, aside } = removal.value;
  return { type: 'workspace-removed', issueId, identifier, path, why, aside, outcome: { ok: true, value: removed } };
}
