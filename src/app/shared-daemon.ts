import { randomBytes } from 'node:crypto';
import type { Leader } from '../store/postgres/index.ts';
import { startDaemon, type DaemonOptions, type RunningDaemon } from './daemon.ts';
import { aboutMe, openShared, waitToLead, type Reign } from './leading.ts';
import { databaseName } from './own-store.ts';
import { openStandby, type Standby } from './standby.ts';

/**
 * A daemon on a database that others may share. It stands by until it is its turn, leads until that is over, and then
 * stands by again.
 */
export async function startSharedDaemon(options: Omit<DaemonOptions, 'reign'>): Promise<RunningDaemon> {
  const { workflow, logger, clock, version } = options;
  const stopped = new AbortController();
  const startUp = AbortSignal.any([stopped.signal, options.interrupted]);
  const db = await openShared(workflow.settings.storeUrl ?? '', logger, startUp);
  const { createPostgresStore } = await import('../store/postgres/index.ts');
  let current: RunningDaemon | null = null;

  async function standBy(): Promise<Reign> {
    const me = aboutMe(randomBytes(5).toString('hex'), workflow.path, version);
    let standby: Standby | null = null;
    const look = async (leader: Leader | null) => {
      if (standby === null) {
        const { host, pid, url } = leader ?? { host: '', pid: 0, url: null };
        logger.info('standing by', {
          database: databaseName(workflow.settings),
          leader_host: host,
          leader_pid: pid,
          leader_url: url,
        });
        standby = await openStandby(options, createPostgresStore(db, { owner: me.id, clock, epoch: null }));
      }
      await standby.look(leader);
      return { ...me, url: standby.url };
    };
    try {
      return await waitToLead({ db, me }, look, logger, startUp);
    } finally {
      await (standby as Standby | null)?.stop();
    }
  }

  async function lead(reign: Reign): Promise<void> {
    const { leadership } = reign;
    const over = new AbortController();
    let lost: string | null = null;
    void leadership.lost.then((why) => {
      lost = why;
      over.abort(new Error(why));
      current?.kill();
    });
    logger.info('leading', { epoch: leadership.epoch, resume_delay_ms: reign.resumeDelayMs });
    try {
      current = await startDaemon({ ...options, interrupted: AbortSignal.any([startUp, over.signal]), reign });
      leadership.servesAt(current.url);
      if (lost !== null) current.kill();
      else if (startUp.aborted) current.stop();
      await current.done;
    } catch (error) {
      if (lost === null) throw error;
    } finally {
      current = null;
      await leadership.leave();
    }
    if (lost !== null) logger.warn('no longer leading, standing by', { reason: lost, epoch: leadership.epoch });
  }

  async function takeTurns(): Promise<void> {
    try {
      while (!stopped.signal.aborted) await lead(await standBy());
    } catch (error) {
      if (!startUp.aborted || current !== null) throw error;
    } finally {
      await db.close();
    }
  }

  return {
    url: null,
    done: takeTurns(),
    stop() {
      stopped.abort(new Error('the service was told to stop'));
      current?.stop();
    },
    kill() {
      stopped.abort(new Error('the service was told to stop at once'));
      current?.kill();
    },
  };
}
