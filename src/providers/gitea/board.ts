import type { TrackerSettings } from '../../domain/model/settings.ts';
import { path } from '../../lib/http/index.ts';
import type { Board } from '../../ports/provider.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import { createClient, pageReader } from './client.ts';
import { createLabels, type Labels } from './labels.ts';
import { LABEL } from './schema.ts';
import { readSettings } from './settings.ts';

/** The labels of the repository and of its organization. A move to a missing one makes it. */
export async function readBoard(settings: TrackerSettings, deps: ProviderDeps, signal: AbortSignal): Promise<Board> {
  const labels = labelsOf(settings, deps);
  const found = [...(await labels.ofRepository(signal)), ...(await labels.ofOrganization(signal))];
  const names = [...new Set(found.map(({ name }) => name))];
  return { what: 'labels', states: names.map((name) => ({ name, stage: null })), createsMissing: true };
}

export async function createLabel(
  settings: TrackerSettings,
  deps: ProviderDeps,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { access, repository } = readSettings(settings);
  const request = { path: path`/repos/${repository.owner}/${repository.repo}/labels`, body: { name, color: '#cccccc' } };
  // Gitea API, "Create a label".
  await createClient(access, deps).sendJson('POST', LABEL, request, signal);
}

function labelsOf(settings: TrackerSettings, deps: ProviderDeps): Labels {
  const { access, repository } = readSettings(settings);
  return createLabels(pageReader(createClient(access, deps), deps), repository);
}
