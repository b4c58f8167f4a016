import { z } from 'zod';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import { path } from '../../lib/http/index.ts';
import type { Board } from '../../ports/provider.ts';
import { PAGE_SIZE } from './settings.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import { createClient } from './client.ts';
import { readSettings } from './settings.ts';

const LABEL = z.object({ name: z.string() });

/** The labels of the repository. They are never made by a move: a remote may refuse one that it does not have. */
export async function readBoard(settings: TrackerSettings, deps: ProviderDeps, signal: AbortSignal): Promise<Board> {
  const { access, repository } = readSettings(settings);
  const request = { path: labelsPath(repository), query: { per_page: PAGE_SIZE } };
  const labels = await createClient(access, deps).getRecords(LABEL, request, signal);
  return { what: 'labels', states: labels.map(({ name }) => ({ name, stage: null })), createsMissing: false };
}

export async function createLabel(
  settings: TrackerSettings,
  deps: ProviderDeps,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { access, repository } = readSettings(settings);
  // REST API, "Create a label".
  await createClient(access, deps).sendJson('POST', LABEL, { path: labelsPath(repository), body: { name } }, signal);
}

function labelsPath({ owner, repo }: { owner: string; repo: string }): string {
  return path`/repos/${owner}/${repo}/labels`;
}
