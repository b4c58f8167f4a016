import { startDaemon, type RunningDaemon } from '../../app/daemon/daemon.ts';
import { placeOfStates } from '../../app/adapters/named-states.ts';
import type { GoodWorkflow } from '../../app/workflow.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import { createSteadyClock } from '../../lib/steady-clock.ts';
import type { RunSettings } from '../run-settings.ts';
import { openLog } from '../logging.ts';
import { openWorkflow } from '../problems.ts';
import { untilInterrupted } from '../until-stopped.ts';

/** Runs the service until it is interrupted. */
export async function serve(args: RunSettings): Promise<number> {
  const workflow = await openWorkflow(args);
  if (!workflow) return 1;
  const { logger, secrets } = openLog(args, workflow.settings);
  secrets.add(workflow.secrets);
  const clock = createSteadyClock();
  const options = { workflow, env: { ...process.env }, version: FORAY_VERSION, port: args.port, clock, logger, secrets };
  const start = async (interrupted: AbortSignal): Promise<RunningDaemon> =>
    workflow.settings.storeUrl === null
      ? startDaemon({ ...options, interrupted, term: null })
      : (await import('../../app/standby/shared-daemon.ts')).startSharedDaemon({ ...options, interrupted });
  const failure = await untilInterrupted(start, logger);
  endWithin(LAST_RECORDS_MS);
  if (failure !== null) {
    logger.error('foray failed', { error: failure.message, ...placeOfFailure(failure, workflow) });
    return 1;
  }
  logger.info('foray stopped', {});
  return 0;
}

/** Where the workflow file is wrong, of a start that the tracker refused for a name in it. */
function placeOfFailure(failure: Error, workflow: GoodWorkflow) {
  const place = failure instanceof TrackerError ? placeOfStates(workflow, failure.unknownStates) : null;
  return place === null ? {} : { file: workflow.path, ...place };
}

/** How long a slow reader of the log may take over the last records. */
const LAST_RECORDS_MS = 2_000;

/** Nobody waits for ever for a reader that does not read. */
function endWithin(ms: number): void {
  setTimeout(() => process.exit(), ms).unref();
}
