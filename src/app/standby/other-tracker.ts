import type { Logger } from '../../ports/runtime.ts';
import type { Leader, Postgres } from '../../store/postgres/index.ts';
import type { GoodWorkflow } from '../workflow.ts';

interface OtherTrackerDeps {
  readonly db: Pick<Postgres, 'read'>;
  readonly logger: Logger;
  /** As it is by now. */
  readonly workflow: () => GoodWorkflow;
}

/** A look each second. A leader that was just killed, or is about to take over the same edit, is not worth a warning. */
const LOOKS = 5;

/** Hears at each look who leads, and warns once where that one watches another tracker: nobody watches this one's. */
export async function tellOtherTracker({ db, logger, workflow }: OtherTrackerDeps): Promise<(leader: Leader) => Promise<void>> {
  const { isWatchedBy } = await import('../../store/postgres/index.ts');
  let last = '';
  let looks = 0;
  return async (leader) => {
    const { path, settings } = workflow();
    const tracker = settings.tracker.identity;
    const isWatched = await db.read(isWatchedBy(leader, tracker));
    if (isWatched === null) return;
    const found = isWatched ? '' : JSON.stringify([tracker, leader.workflowPath, leader.tracker]);
    looks = found === last ? looks + 1 : 1;
    last = found;
    if (found === '' || looks !== LOOKS) return;
    logger.warn('standing by for a leader that watches another tracker, nobody watches that of this workflow file', {
      workflow_path: path,
      tracker,
      leader_host: leader.host,
      leader_pid: leader.pid,
      leader_workflow_path: leader.workflowPath,
      leader_tracker: leader.tracker ?? '',
      remedy: 'set store.url in this workflow file to a database of its own',
    });
  };
}
