import type { TrackerSettings } from '../../domain/model/settings.ts';
import type { Board } from '../../ports/provider.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import { asTrackerErrors } from './failures.ts';
import { locationOf } from './settings.ts';
import { createSource } from './source.ts';

/** The states that issues are in now; any other may be written too. */
export async function readBoard(settings: TrackerSettings, deps: ProviderDeps, signal: AbortSignal): Promise<Board> {
  const location = locationOf(settings.options, deps.workflowDir);
  const { records } = await asTrackerErrors('READ', location, signal, () => createSource(location).read());
  const names = records
    .map(({ value }) => (value as { state?: unknown } | null)?.state)
    .filter((state) => typeof state === 'string' && state.trim() !== '');
  return {
    what: 'states',
    states: [...new Set(names as string[])].map((name) => ({ name, stage: null })),
    createsMissing: true,
  };
}
