import path from 'node:path';
import { TrackerError } from '../../domain/model/errors.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import type { Board } from '../../ports/provider.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import { loadProvider } from '../../providers/registry.ts';

/** What a provider works with, for a workflow file at this place. */
export function providerDeps(file: string, { version, clock, logger, meter }: Omit<ProviderDeps, 'workflowDir'>): ProviderDeps {
  const workflowDir = path.dirname(path.resolve(file));
  return { version, clock, logger, workflowDir, ...(meter ? { meter } : {}) };
}

/**
 * Reads the states or labels of the tracker, which proves token and project at once. A remote that does not tell them is
 * asked for its issues instead, and what those are in is all that is known.
 */
export async function readBoardOrIssues(settings: TrackerSettings, deps: ProviderDeps, signal: AbortSignal): Promise<Board> {
  const provider = await loadProvider(settings.kind);
  try {
    return await provider.readBoard(settings, deps, signal);
  } catch (error) {
    if (!(error instanceof TrackerError) || error.kind !== 'tracker_not_found') throw error;
    const tracker = provider.createTracker(settings, deps);
    await tracker.preflight?.(signal);
    const states = new Set((await tracker.fetchCandidateIssues(signal)).map(({ state }) => state));
    return { what: 'states', states: [...states].map((name) => ({ name, stage: null })), createsMissing: true };
  }
}
