import type { Problem } from '../domain/model/problem.ts';
import { faultOf, TrackerError } from '../domain/model/errors.ts';
import type { ProviderDeps } from '../ports/provider.ts';
import { providerDeps, providerOf } from './board.ts';
import type { BuiltAdapters } from './build-adapters.ts';
import { missingState, statesNamed } from './named-states.ts';

/** A tracker that does not answer by then is polled all the same. */
const PATIENCE_MS = 3000;

/**
 * Adds a warning for each state that runs move issues to and that the tracker does not have, before an agent is paid for work
 * that cannot be handed over. One read, and only of a kind whose preflight does not look. What cannot be read says nothing.
 */
export async function withMissingStates(
  built: BuiltAdapters,
  deps: Omit<ProviderDeps, 'workflowDir'>,
  signal: AbortSignal,
): Promise<BuiltAdapters> {
  const { workflow } = built;
  const { tracker } = workflow.settings;
  const written = statesNamed(tracker).filter(({ isWritten }) => isWritten);
  const { readBoard, boardAtStart } = providerOf(tracker);
  if (!boardAtStart || written.length === 0) return built;
  try {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    const board = await readBoard(tracker, providerDeps(workflow.path, deps), patience);
    const warnings = written.flatMap(({ key, name }): readonly Problem[] => {
      const missing = missingState(name, board);
      if (missing === null) return [];
      const message = `${missing.message}: no issue can be moved there; ${missing.hint}`;
      return [{ severity: 'warning', check: key, message }];
    });
    for (const { check, message } of warnings) deps.logger.warn('workflow warning', { check, message });
    return warnings.length === 0 ? built : { ...built, workflow: { ...workflow, problems: [...workflow.problems, ...warnings] } };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof TrackerError) && !isTimeout(error)) throw error;
    deps.logger.debug('the states of the tracker could not be checked', {
      tracker_kind: tracker.kind,
      error: faultOf(error).message,
    });
    return built;
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}
