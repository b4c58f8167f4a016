import { placedAt } from '../../config/document.ts';
import type { Problem } from '../../domain/model/problem.ts';
import { faultOf } from '../../domain/model/fault.ts';
import { stateIn } from '../../domain/model/issue.ts';
import type { NoticeBus } from '../../ports/events.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import { loadProvider } from '../../providers/registry.ts';
import { providerDeps } from '../adapters/board.ts';
import type { BuiltAdapters } from '../adapters/build-adapters.ts';
import type { OperationMeter } from '../adapters/request-meter.ts';
import { missingState, placeOfName, statesNamed } from '../adapters/named-states.ts';
import { tellWarnings, type GoodWorkflow } from '../workflow.ts';

/** A tracker that takes longer to name its states is not asked again. */
const PATIENCE_MS = 10_000;

export interface MissingStates {
  /** What was found for the tracker that is watched. */
  warnings(): readonly Problem[];
  stop(): void;
}

type ReadingDeps = Omit<ProviderDeps, 'workflowDir' | 'meter'> & { readonly meter: OperationMeter };

export interface MissingStatesDeps {
  readonly watched: () => Pick<BuiltAdapters, 'tracker' | 'workflow'>;
  readonly notices: Pick<NoticeBus, 'listen'>;
  readonly provider: ReadingDeps;
}

/**
 * Warns of states that runs move issues to and that the tracker does not have, so that nobody pays for work that cannot be
 * handed over. Looks once after the first poll of a tracker, and only at a kind whose preflight does not look. It is advice:
 * nothing waits for it, and what cannot be read says nothing.
 */
export function followMissingStates({ watched, notices, provider }: MissingStatesDeps): MissingStates {
  const stopped = new AbortController();
  const found = new WeakMap<object, readonly Problem[]>();
  const warnings = (): readonly Problem[] => found.get(watched().tracker) ?? [];
  const tell = (problems: readonly Problem[]): void => {
    tellWarnings({ problems, path: watched().workflow.path }, provider.logger);
  };
  const look = async (): Promise<void> => {
    const { tracker, workflow } = watched();
    if (found.has(tracker)) return;
    found.set(tracker, []);
    const problems = await findMissing(workflow, provider, stopped.signal);
    if (stopped.signal.aborted) return;
    found.set(tracker, problems);
    if (watched().tracker === tracker) tell(problems);
  };
  const unlisten = notices.listen(({ name }) => {
    if (name === 'poll:tick:completed') void look();
    if (name === 'workflow:file:reloaded') tell(warnings());
  });
  return {
    warnings,
    stop() {
      stopped.abort();
      unlisten();
    },
  };
}

/** One read, and none where no state is moved to. */
async function findMissing(workflow: GoodWorkflow, provider: ReadingDeps, signal: AbortSignal): Promise<readonly Problem[]> {
  const { path, settings } = workflow;
  const { tracker } = settings;
  const { readBoard, boardAtStart } = await loadProvider(tracker.kind);
  const proved = boardAtStart === 'rest' ? [...tracker.activeStates, ...tracker.terminalStates, tracker.handoffState ?? ''] : [];
  const written = statesNamed(settings).filter(({ isWritten, name }) => isWritten && !stateIn(proved, name));
  if (!boardAtStart || written.length === 0) return [];
  try {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    const read = () => readBoard(tracker, providerDeps(path, provider), patience);
    const board = await provider.meter.during({ operation: 'preflight', isLocal: false }, read);
    return written.flatMap((named): readonly Problem[] => {
      const missing = missingState(named.name, board);
      if (missing === null) return [];
      const message = `${missing.message}: no issue can be moved there; ${missing.hint}`;
      return [placedAt({ severity: 'warning', check: named.key, message }, placeOfName(workflow, named))];
    });
  } catch (error) {
    const { message } = faultOf(error);
    if (!signal.aborted)
      provider.logger.debug('the states of the tracker could not be checked', { tracker_kind: tracker.kind, error: message });
    return [];
  }
}
