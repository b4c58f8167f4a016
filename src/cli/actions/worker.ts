import os from 'node:os';
import path from 'node:path';
import { createKnownSecrets } from '../../app/secrets.ts';
import { openWorker } from '../../app/worker/worker.ts';
import { addressProblem, expandAddress } from '../../config/store.ts';
import { LONGEST_HOST_NAME } from '../../domain/model/host-path.ts';
import { NO_SETTINGS } from '../../domain/model/no-settings.ts';
import { hideFromEnvironment } from '../../lib/process/index.ts';
import type { RunningWorker } from '../../runners/queue/worker/index.ts';
import { UsageError } from '../command.ts';
import { openLog } from '../logging.ts';
import { onSignals } from '../signals.ts';
import { errorText } from '../../lib/error-text.ts';

export interface WorkerArgs {
  readonly url: string;
  readonly slots: number;
  readonly labels: readonly string[];
  readonly name: string | null;
  readonly root: string | null;
}

/** Works on runs until it is interrupted; then it finishes those it has. */
export async function work({ url, slots, labels, name, root: asked }: WorkerArgs): Promise<number> {
  const secrets = createKnownSecrets();
  const { logger } = openLog({ logLevel: null, logFormat: null }, NO_SETTINGS, secrets);
  const { address: expanded, secrets: hidden } = expandAddress(url, process.env);
  const { value: address } = expanded;
  const problem = addressProblem(expanded);
  if (problem !== null) throw new UsageError(`--url ${problem}`);
  secrets.add(hidden.map(({ value }) => value));
  hideFromEnvironment(hidden.flatMap(({ variables }) => variables));
  const host = os
    .hostname()
    .replaceAll(/[^A-Za-z0-9_.-]/g, '-')
    .slice(0, LONGEST_HOST_NAME);
  const root = path.resolve(asked ?? path.join(stateDirectory(), 'foray', 'worker', name ?? host));
  let worker: RunningWorker | null = null;
  const interrupted = new AbortController();
  const signals = onSignals({
    stop(signal) {
      logger.info('draining', { signal });
      interrupted.abort(new Error('stopped before it had begun'));
      worker?.drain();
    },
    force(signal, code) {
      logger.warn('stopping at once', { signal });
      worker?.kill();
      process.exit(code);
    },
  });
  try {
    const place = { name, host, root, env: { ...process.env } };
    const told = { version: FORAY_VERSION, logger, secrets, interrupted: interrupted.signal };
    worker = await openWorker({ url: address, slots, labels, ...place, ...told });
    logger.info('foray worker started', { version: FORAY_VERSION, worker: name ?? host, slots, labels: labels.join(','), root });
    if (interrupted.signal.aborted) worker.drain();
    await worker.done;
  } catch (error) {
    if (interrupted.signal.aborted && worker === null) return 0;
    logger.error('foray failed', { error: errorText(error) });
    return 1;
  } finally {
    signals.release();
  }
  logger.info('foray worker stopped', { worker: name ?? host });
  return 0;
}

function stateDirectory(): string {
  const configured = process.env['XDG_STATE_HOME'] ?? '';
  const state = path.isAbsolute(configured) ? configured : path.join(os.homedir(), '.local', 'state');
  if (path.isAbsolute(state)) return state;
  throw new UsageError('the home directory is not known: set HOME to an absolute path, or give --root');
}
