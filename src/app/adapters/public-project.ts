import type { Problem } from '../../domain/model/problem.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import type { Provider } from '../../ports/provider.ts';
import type { ProjectFacts } from '../../ports/tracker.ts';

export const ANYONE_MAY_START = 'anyone can start a run here';
export const ANYONE_REMEDY = 'set tracker.authors, tracker.approval_label or tracker.query_filter';

/** The warning for a public project whose unlabelled issues are taken from anyone; null where that is not so or not known. */
export function publicProblem(
  tracker: TrackerSettings,
  { takesUnlabelled }: Pick<Provider, 'takesUnlabelled'>,
  facts: ProjectFacts | null,
): Problem | null {
  const { activeStates, authors, approvalLabel, queryFilter } = tracker;
  const isNarrowed = authors !== 'anyone' || approvalLabel !== null || queryFilter.trim() !== '';
  const [first] = activeStates;
  if (facts?.isPublic !== true || !takesUnlabelled || isNarrowed || first === undefined) return null;
  const why = `${facts.path} is public, and an open issue without a state label is taken for "${first}"`;
  return { severity: 'warning', check: 'tracker.authors', message: `${ANYONE_MAY_START}: ${why}; ${ANYONE_REMEDY}` };
}
