import { startDaemon } from '../../app/daemon.ts';
import type { RunArgs } from '../args.ts';
import { openLog } from '../logging.ts';
import { openWorkflow } from '../problems.ts';
import { onSignals } from '../signals.ts';

/** Runs the service until it is interrupted. */
export async function run(args: RunArgs): Promise<number> {
  const workflow = await openWorkflow(args.workflowPath);
  if (!workflow) return 1;
  const { logger, secrets } = openLog(args, workflow.settings);
  secrets.add(workflow.secrets);
  const starting = startDaemon({
    workflow,
    env: process.env,
    version: FORAY_VERSION,
    port: args.port,
    clock: { now: Date.now },
    logger,
    secrets,
  });
  const signals = onSignals({
    stop(signal) {
      logger.info('stopping', { signal });
      starting.then((daemon) => daemon.stop()).catch(() => {});
    },
    force(signal) {
      logger.warn('stopping at once', { signal });
      starting.then((daemon) => daemon.kill()).catch(() => {});
    },
  });
  try {
    const daemon = await starting;
    const code = await Promise.race([daemon.done.then(() => 0), signals.forced]);
    if (code === 0) logger.info('foray stopped', {});
    else process.exit(code);
    return code;
  } catch (error) {
    logger.error('foray failed', { error: error instanceof Error ? error.message : String(error) });
    return 1;
  } finally {
    signals.release();
  }
}
