import { z } from 'zod';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import { path } from '../../lib/http/index.ts';
import type { Board, BoardState } from '../../ports/provider.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import { createClient } from './client.ts';
import { readSettings } from './settings.ts';

const STATUS = z.object({ name: z.string(), statusCategory: z.object({ key: z.string().nullish() }).nullish() });
/** One entry for each type of issue, with the statuses its workflow has. */
const TYPES = z.array(z.object({ statuses: z.array(STATUS) }));

const STAGES: Readonly<Record<string, BoardState['stage']>> = { new: 'waiting', indeterminate: 'working', done: 'done' };

/** The statuses of the project's workflows. Only an administrator of the site makes new ones. */
export async function readBoard(settings: TrackerSettings, deps: ProviderDeps, signal: AbortSignal): Promise<Board> {
  const { access, project } = readSettings(settings);
  const request = { path: path`/rest/api/3/project/${project}/statuses` };
  const types = await createClient(access, deps).getJson(TYPES, request, signal);
  const states = new Map(
    types.flatMap(({ statuses }) => statuses).map(({ name, statusCategory }) => [name, stageOf(statusCategory?.key ?? '')]),
  );
  return { what: 'states', states: [...states].map(([name, stage]) => ({ name, stage })), createsMissing: false };
}

function stageOf(word: string): BoardState['stage'] {
  return Object.hasOwn(STAGES, word) ? (STAGES[word] ?? null) : null;
}
