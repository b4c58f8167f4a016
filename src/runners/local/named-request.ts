import type { ScmRecord } from '../../domain/model/agent-event.ts';
import type { RunPlan } from '../../domain/model/effect.ts';
import type { WorkspaceSubject } from '../../ports/workspace.ts';
import type { AttemptDeps } from './attempt.ts';

/**
 * The merge request that a run names in `.foray/scm.json`. Where we push its branch ourselves, one of any other branch is
 * somebody else's: it is left alone, aloud.
 */
export async function namedRequest(
  plan: RunPlan,
  subject: WorkspaceSubject,
  workspacePath: string,
  { adapters: { workspaces }, announce }: Pick<AttemptDeps, 'adapters' | 'announce'>,
): Promise<ScmRecord | null> {
  const named = await workspaces.readScm(subject, workspacePath);
  const branch = workspaces.ownBranch(subject);
  if (named === null || branch === null || named.branch === branch) return named;
  const { owner, repo, prNumber: number } = named;
  const why = `the issue's branch is ${JSON.stringify(branch)}, .foray/scm.json says ${JSON.stringify(named.branch)}`;
  announce({ name: 'reaction:request:refused', facts: { issue: plan.issue, owner, repo, number, why } });
  return null;
}
