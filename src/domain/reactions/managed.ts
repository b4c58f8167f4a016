import type { MergeStatus } from '../model/merge-request.ts';
import type { ReactionSettings } from '../model/settings.ts';
import type { MergeRequestRef, Standing, Watch } from '../model/watch.ts';

type Refusal = Extract<Standing, { is: 'unmanaged' }>;

/**
 * Why a request is not this issue's, or null when it is. What the run wrote into `.foray/scm.json` is its word: the project
 * must be one of ours, and the forge must name the same source branch, in the project itself.
 */
export function whyNotOurs(settings: ReactionSettings, request: MergeRequestRef, merge: MergeStatus): Refusal | null {
  if (!isOurProject(settings, request, merge.projectId)) return foreignProject(request);
  if (merge.fork) return refusal('fork', 'its source branch is in a fork');
  if (request.branch === '') return refusal('branch', '.foray/scm.json names no branch');
  if (merge.headBranch === request.branch) return null;
  return refusal(
    'branch',
    `its source branch is ${JSON.stringify(merge.headBranch)}, .foray/scm.json says ${JSON.stringify(request.branch)}`,
  );
}

/** The same without a look, as far as that goes: a project that is set by its id is known only by what the forge says. */
export function whyForeign(settings: ReactionSettings, request: MergeRequestRef): Refusal | null {
  const mayBeAnId = settings.projects.some((project) => !project.includes('/'));
  return mayBeAnId || isOurProject(settings, request, '') ? null : foreignProject(request);
}

/** The same for one on another forge than the reactions look at now, which may have a request of the same number. */
export function whyElsewhere({ forge }: ReactionSettings, { facts }: Pick<Watch, 'facts'>): Refusal | null {
  if (forge === undefined || facts.forge === null || facts.forge === forge) return null;
  return refusal('project', `it is on ${facts.forge}, and the reactions look at ${forge}`);
}

function isOurProject({ projects }: ReactionSettings, { owner, repo }: MergeRequestRef, projectId: string): boolean {
  const path = `${owner}/${repo}`.toLowerCase();
  return projects.some((project) => project.toLowerCase() === path || (projectId !== '' && project === projectId));
}

function foreignProject({ owner, repo }: MergeRequestRef): Refusal {
  return refusal('project', `${owner}/${repo} is neither the tracker's project nor in reactions.projects`);
}

function refusal(cause: Refusal['cause'], reason: string): Refusal {
  return { is: 'unmanaged', cause, reason };
}
