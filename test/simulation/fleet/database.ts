import type { Durable, Write } from '../../../src/domain/model/durable.ts';
import type { RunPlan } from '../../../src/domain/model/effect.ts';
import type { Event } from '../../../src/domain/model/event.ts';
import type { Elsewhere } from '../../../src/domain/recover.ts';
import { LEADER_ABSENT_MS, LEADER_SILENT_MS, SESSIONS_OVER_MS, WORKER_LOST_MS } from '../../../src/domain/model/lease-times.ts';
import { applyWrites, createDurableModel, loadModel, type DurableModel } from '../durable-model.ts';
import type { Actor } from './timeline.ts';

/** A run that a worker was given, as its row in the database. */
export interface GivenRow {
  readonly plan: RunPlan;
  readonly worker: string;
  isToldToStop: boolean;
}

export interface WordRow {
  readonly runId: string;
  readonly number: number;
  readonly event: Event;
}

/** What a daemon learns that begins to lead. */
export interface Won {
  readonly epoch: number;
  readonly elsewhere: Elsewhere;
  readonly durable: Durable;
}

/** The shared database: each call is one transaction, and those of a leader are refused when its epoch is over. */
export interface Database {
  epoch(): number;
  readonly records: DurableModel;
  readonly given: ReadonlyMap<string, GivenRow>;
  tryToLead(daemon: Actor, now: number): Won | null;
  /** False: another one leads. */
  renew(epoch: number, now: number): boolean;
  leave(epoch: number): void;
  /** The connection that holds the lock is gone. */
  dropLock(daemon: Actor): void;
  store(epoch: number, writes: readonly Write[]): boolean;
  /** Gives a run to a worker, takes it back, tells it to stop. */
  give(epoch: number, plan: RunPlan, worker: string): boolean;
  revoke(epoch: number, runId: string): boolean;
  tellStop(epoch: number, runId: string): boolean;
  /** What workers said that was not heard yet; what was heard goes. Null: another one leads. */
  words(epoch: number, heard: readonly WordRow[]): readonly WordRow[] | null;
  workers(): ReadonlyMap<string, number>;
  forgetWorker(epoch: number, worker: string): boolean;
  /** The worker's side. A word is refused when the run is not the worker's any more. */
  beat(worker: string, now: number): ReadonlyMap<string, GivenRow>;
  isHeldBy(worker: string, runId: string): boolean;
  say(worker: string, word: WordRow): boolean;
}

/** How the fence may be broken, to see that somebody notices. */
export interface DatabaseFlaws {
  readonly ignoresEpoch?: boolean;
  readonly ignoresLease?: boolean;
  /** A new leader starts at once what ran under the one before. */
  readonly resumesAtOnce?: boolean;
}

export function createDatabase(flaws: DatabaseFlaws = {}): Database {
  const records = createDurableModel();
  const given = new Map<string, GivenRow>();
  const words = new Map<string, WordRow>();
  const workers = new Map<string, number>();
  const cutShort = new Map<string, number>();
  const leader = { epoch: 0, host: '', renewedAt: -Infinity, left: true, lock: null as { by: Actor; life: number } | null };
  const leads = (epoch: number): boolean => epoch === leader.epoch || flaws.ignoresEpoch === true;
  const holds = (worker: string, runId: string): boolean => given.get(runId)?.worker === worker;

  /** Carries out the work only under the epoch that is in force. */
  function under(epoch: number, work: () => void): boolean {
    if (!leads(epoch)) return false;
    work();
    return true;
  }

  /** The history tells later what may still go on elsewhere. */
  function noteCutShort(at: number): void {
    for (const [id, { phase }] of records.claims) if (phase === 'running') cutShort.set(id, at);
  }

  function isLocked(): boolean {
    return leader.lock !== null && leader.lock.by.isAlive && leader.lock.by.life === leader.lock.life;
  }

  return {
    epoch: () => leader.epoch,
    records,
    given,
    tryToLead(daemon, now) {
      const silent = now - leader.renewedAt;
      if (!leader.left && silent < LEADER_ABSENT_MS) return null;
      if (isLocked() && leader.lock?.by !== daemon) {
        if (silent > LEADER_SILENT_MS) leader.lock = null;
        return null;
      }
      const isKnownOver = leader.left || leader.host === daemon.host;
      const letGoMs = given.size > 0 ? WORKER_LOST_MS : 0;
      const safeMs = Math.max(isKnownOver ? 0 : SESSIONS_OVER_MS - silent, letGoMs);
      const delayMs = flaws.resumesAtOnce === true ? 0 : safeMs;
      if (delayMs > 0) noteCutShort(now);
      const endingElsewhere = new Map([...cutShort].map(([id, at]) => [id, at + SESSIONS_OVER_MS]));
      Object.assign(leader, { epoch: leader.epoch + 1, host: daemon.host, renewedAt: now, left: false });
      leader.lock = { by: daemon, life: daemon.life };
      given.clear();
      words.clear();
      return { epoch: leader.epoch, elsewhere: { delayMs, endingElsewhere }, durable: loadModel(records) };
    },
    renew: (epoch, now) => epoch === leader.epoch && under(epoch, () => (leader.renewedAt = now)),
    leave: (epoch) => void under(epoch, () => Object.assign(leader, { left: true, lock: null })),
    dropLock(daemon) {
      if (leader.lock?.by === daemon) leader.lock = null;
    },
    store: (epoch, writes) => under(epoch, () => applyWrites(records, writes)),
    give: (epoch, plan, worker) => under(epoch, () => given.set(plan.runId, { plan, worker, isToldToStop: false })),
    revoke: (epoch, runId) =>
      under(epoch, () => {
        given.delete(runId);
        for (const [key, word] of words) if (word.runId === runId) words.delete(key);
      }),
    tellStop: (epoch, runId) =>
      under(epoch, () => {
        const row = given.get(runId);
        if (row) row.isToldToStop = true;
      }),
    words(epoch, heard) {
      if (!leads(epoch)) return null;
      for (const word of heard) words.delete(keyOf(word));
      return [...words.values()];
    },
    workers: () => new Map(workers),
    forgetWorker: (epoch, worker) => under(epoch, () => workers.delete(worker)),
    beat(worker, now) {
      workers.set(worker, now);
      return new Map([...given].filter(([, row]) => row.worker === worker));
    },
    isHeldBy: holds,
    say(worker, word) {
      if (!holds(worker, word.runId) && flaws.ignoresLease !== true) return false;
      words.set(keyOf(word), word);
      return true;
    },
  };
}

function keyOf({ runId, number }: WordRow): string {
  return `${runId} ${String(number).padStart(6, '0')}`;
}
