import { randomBytes } from 'node:crypto';
import { TrackerError } from '../../domain/model/errors.ts';
import type { Leader, Postgres } from '../../store/postgres/index.ts';
import { startDaemon, type DaemonOptions, type RunningDaemon } from '../daemon/daemon.ts';
import { keepWorkflow, type KeptWorkflow } from '../daemon/kept-workflow.ts';
import { instanceFacts, prepareShared, waitToLead, type LeaderTerm } from '../leader/leading.ts';
import { databaseName } from '../daemon/own-store.ts';
import { tellOtherTracker } from './other-tracker.ts';
import { passOn } from '../leader/shared-hints.ts';
import { readWorkflowFile } from '../workflow.ts';
import { hostViewsOf } from '../../runners/queue/leader/known-workers.ts';
import { openStandby, type Standby } from './standby.ts';
import { errorText } from '../../lib/error-text.ts';

type SharedOptions = Omit<DaemonOptions, 'term'>;
type Options = SharedOptions & { readonly kept: KeptWorkflow };

/** The daemon of a turn to lead, while there is one. */
interface Turn {
  daemon: RunningDaemon | null;
  /** How often in a row the database failed while it began. */
  failures: number;
}

/**
 * A daemon on a database that others may share. It stands by until it is its turn, leads until that is over, and then
 * stands by again.
 */
export async function startSharedDaemon(given: SharedOptions): Promise<RunningDaemon> {
  const stopped = new AbortController();
  const interrupted = AbortSignal.any([stopped.signal, given.interrupted]);
  const options = { ...given, interrupted, keptPort: { port: null }, kept: keepWorkflow(given.workflow) };
  const { openPostgres } = await import('../../store/postgres/index.ts');
  const db = await openPostgres(options.workflow.settings.storeUrl ?? '');
  const turn: Turn = { daemon: null, failures: 0 };

  async function takeTurns(): Promise<void> {
    try {
      while (!options.interrupted.aborted) {
        const term = await standBy(db, await asTheFileSays(options), restMs(turn.failures));
        await lead(term, await asTheFileSays(options), turn);
      }
    } catch (error) {
      // What was interrupted while it stood by, or while it started, ended as it was asked to.
      if (!options.interrupted.aborted || turn.daemon !== null) throw error;
    } finally {
      await db.close();
    }
  }

  return {
    url: null,
    done: takeTurns(),
    stop() {
      stopped.abort(new Error('the service was told to stop'));
      turn.daemon?.stop();
    },
    kill() {
      stopped.abort(new Error('the service was told to stop at once'));
      turn.daemon?.kill();
    },
  };
}

const LONGEST_REST_MS = 60_000;

/** One that cannot begin, such as for want of connections, does not try again at once: it serves its pages meanwhile. */
function restMs(failures: number): number {
  return failures === 0 ? 0 : Math.min(1_000 * 2 ** (failures - 1), LONGEST_REST_MS);
}

/** What was edited while another one led holds for this one as well: it may be broken again by the time this one leads. */
async function asTheFileSays(options: Options): Promise<Options> {
  const { env, secrets, kept } = options;
  const read = await readWorkflowFile(options.workflow.path, env);
  secrets.add(read.secrets);
  kept.take(read);
  return { ...options, workflow: kept.current() };
}

/** A database that does not answer keeps the pages back no longer than this: probes ask them whether this one is alive. */
const PAGES_WITHIN_MS = 1_000;

/** Serves what the leader has stored until it is this one's turn. */
async function standBy(db: Postgres, options: Options, rest: number): Promise<LeaderTerm> {
  const { workflow, logger, version } = options;
  const me = instanceFacts(randomBytes(5).toString('hex'), workflow.path, version);
  let isTold = false;
  let opened: Promise<Standby> | null = null;
  const pages = (): Promise<Standby> => (opened ??= openPages(db, me.id, options));
  const late = setTimeout(() => pages().catch(() => {}), PAGES_WITHIN_MS);
  const warn = await tellOtherTracker({ db, logger, workflow: options.kept.current });
  const look = async (leader: Leader | null) => {
    const { host, pid, url } = leader ?? { host: '', pid: 0, url: null };
    const facts = { database: databaseName(workflow.settings), leader_host: host, leader_pid: pid, leader_url: url };
    if (!isTold) logger.info('standing by', facts);
    isTold = true;
    if (leader !== null) await warn(leader);
    const standby = await pages();
    await standby.look(leader);
    return { ...me, url: standby.url };
  };
  try {
    await prepareShared(db, logger, options.interrupted);
    return await waitToLead({ db, me, restMs: rest }, look, logger, options.interrupted);
  } finally {
    clearTimeout(late);
    await (await (opened as Promise<Standby> | null))?.stop();
  }
}

/** The pages of a daemon that does not lead, with nothing on them yet. */
async function openPages(db: Postgres, owner: string, options: Options): Promise<Standby> {
  const { logger, clock, version } = options;
  const { createPostgresStore, readFleet } = await import('../../store/postgres/index.ts');
  return openStandby(options, {
    kept: options.kept,
    store: createPostgresStore(db, { owner, clock, epoch: null }),
    passedOn: passOn(db, { clock, logger }),
    readHosts: async () => {
      const { workers, holders } = await db.read(readFleet());
      return hostViewsOf(workers, {
        runsOf: (id) => [...holders.values()].filter((holder) => holder === id).length,
        version,
      });
    },
  });
}

/** Works until the service is stopped or another one leads. */
async function lead(term: LeaderTerm, options: Options, turn: Turn): Promise<void> {
  const { leadership } = term;
  const { logger } = options;
  const { isNotLeading, isUnreachable } = await import('../../store/postgres/index.ts');
  const over = new AbortController();
  let lost: string | null = null;
  void leadership.lost.then((why) => {
    lost = why;
    over.abort(new Error(why));
    turn.daemon?.kill();
  });
  logger.info('leading', { epoch: leadership.epoch, resume_delay_ms: term.resumeDelayMs });
  try {
    const interrupted = AbortSignal.any([options.interrupted, over.signal]);
    turn.daemon = await startWithFile({ ...options, interrupted, term }, options.kept);
    if (lost !== null) turn.daemon.kill();
    else if (options.interrupted.aborted) turn.daemon.stop();
    turn.failures = 0;
    await turn.daemon.done;
    turn.daemon = null;
  } catch (error) {
    const isBeginning = turn.daemon === null;
    if (lost === null && isBeginning)
      lost = isUnreachable(error) || isNotLeading(error) ? errorText(error) : await whyOver(leadership);
    if (lost === null) throw error;
    if (isBeginning) turn.failures += 1;
    turn.daemon = null;
  } finally {
    await leadership.leave();
  }
  if (lost !== null) logger.warn('no longer leading, standing by', { reason: lost, epoch: leadership.epoch });
}

/**
 * Only the tracker can tell that an edit names it wrongly, and one that stands by does not ask it. Such an edit is refused as it
 * is while a service leads: the one before stays in force. What that one finds wrong with the file it tells by itself.
 */
async function startWithFile(options: DaemonOptions, kept: KeptWorkflow): Promise<RunningDaemon> {
  const tried = kept.toTry();
  for (const [index, workflow] of tried.entries()) {
    const mustAnswer = index < tried.length - 1;
    try {
      const daemon = await startDaemon({ ...options, workflow, mustAnswer });
      kept.proved(workflow);
      return daemon;
    } catch (error) {
      if (!mustAnswer || !(error instanceof TrackerError)) throw error;
    }
  }
  throw new Error('there is no workflow file to start with');
}

/** Whatever fails may fail because this one slept and another one leads by now; null while this one surely does. */
function whyOver(leadership: LeaderTerm['leadership']): Promise<string | null> {
  return leadership.confirm().then(() => null, errorText);
}
