import type { Problem } from '../domain/model/problem.ts';
import type { ProviderFacts } from '../ports/provider.ts';
import { writtenName } from './blocks.ts';
import type { CheckedFrontMatter } from './check-front-matter.ts';
import type { ReadTracker } from './tracker.ts';

/** Whose merge requests are looked after: the tracker's own project where it lies on the same kind of forge, and those listed. */
export function managedProjects(
  provider: ProviderFacts,
  name: string,
  read: CheckedFrontMatter,
  tracker: ReadTracker,
): { readonly projects: readonly string[]; readonly problems: readonly Problem[] } {
  const written = (read.sections.reactions.projects ?? []).map((project) => project.trim());
  const own = tracker.provider.kind === provider.kind ? (tracker.connection.project?.value ?? '') : '';
  const projects = [own, ...written].filter((project) => project !== '');
  const isMissing = tracker.provider.kind !== provider.kind && projects.length === 0 && !read.isFaulty('reactions.projects');
  const faults = written.flatMap((project, index) => faultOf(project, index, provider));
  return { projects, problems: [...(isMissing ? [missing(name, tracker)] : []), ...faults] };
}

function missing(name: string, { provider, section }: ReadTracker): Problem {
  const message =
    `reactions.projects is required when the tracker (${writtenName(provider, section.kind)}) is of another kind than the provider (${name}): ` +
    'list the projects whose merge requests belong to these issues, as owner/repo';
  return { severity: 'error', check: 'reactions.projects.required', message, key: ['reactions'] };
}

function faultOf(project: string, index: number, { nestsProjects = false }: ProviderFacts): readonly Problem[] {
  const parts = /^[^\s/]+(?:\/[^\s/]+)+$/.test(project) ? project.split('/').length : 0;
  if (parts === 2 || (parts > 2 && nestsProjects)) return [];
  const why = parts === 0 ? 'is not the path of a project, such as owner/repo' : 'has more parts than owner/repo';
  const message = `${JSON.stringify(project)} ${why}`;
  return [{ severity: 'error', check: 'reactions.projects', message, key: ['reactions', 'projects', String(index)] }];
}
