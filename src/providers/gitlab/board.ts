import type { TrackerSettings } from '../../domain/model/settings.ts';
import type { Board } from '../../ports/provider.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import { createClient } from './client.ts';
import { openProject, readLabelNames, type Project } from './routes.ts';
import { LABEL } from './schema.ts';
import { readSettings } from './settings.ts';

/** The labels of the project and of its groups. An issue that is given an unknown one gets it made. */
export async function readBoard(settings: TrackerSettings, deps: ProviderDeps, signal: AbortSignal): Promise<Board> {
  const names = await readLabelNames(projectOf(settings, deps), signal);
  return { what: 'labels', states: names.map((name) => ({ name, stage: null })), createsMissing: true };
}

export async function createLabel(
  settings: TrackerSettings,
  deps: ProviderDeps,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { http, route } = projectOf(settings, deps);
  // GitLab API, "Labels API": "Create a label".
  await http.sendJson('POST', LABEL, { path: `${route}/labels`, body: { name, color: '#cccccc' } }, signal);
}

function projectOf(settings: TrackerSettings, deps: ProviderDeps): Project {
  const { access, project } = readSettings(settings);
  return openProject(project, access.baseUrl, { http: createClient(access, deps), logger: deps.logger });
}
