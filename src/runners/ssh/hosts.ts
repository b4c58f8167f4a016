import type { WorkerSettings } from '../../domain/model/settings.ts';
import type { HostView } from '../../ports/runner.ts';
import type { Clock } from '../../ports/runtime.ts';
import { createUnfitHosts, type UnfitHosts } from '../unfit-hosts.ts';

/** After a host could not be worked with it gets no run for a while. */
const REST_MS = 60_000;

/** The hosts that runs are given to: what runs on each, and whether it answers. */
export interface SshHosts {
  /**
   * A host for a run: the one that holds its workspace where that can be, else the one with the fewest runs, and of those the
   * one that was given nothing for the longest time. One that lacks what a run needs comes after all others. Null for none.
   */
  choose(settings: WorkerSettings, holder: string | null): string | null;
  took(host: string): void;
  gave(host: string): void;
  /** It answered. */
  heard(host: string): void;
  failed(host: string, why: string): void;
  readonly heardExit: UnfitHosts['heardExit'];
  /** Why none of these can be worked with now, or null. */
  problemOf(names: readonly string[]): string | null;
  views(settings: WorkerSettings): readonly HostView[];
}

interface Known {
  running: number;
  /** A number that is higher the later it was last given a run. */
  lastTurn: number;
  heardAt: number | null;
  restsUntil: number;
  problem: string | null;
}

export function createSshHosts(clock: Clock): SshHosts {
  const known = new Map<string, Known>();
  const unfit = createUnfitHosts(clock);
  let turns = 0;
  const of = (name: string): Known => {
    const host = known.get(name) ?? { running: 0, lastTurn: 0, heardAt: null, restsUntil: 0, problem: null };
    known.set(name, host);
    return host;
  };
  const rests = (name: string): boolean => of(name).restsUntil > clock.now();

  return {
    choose({ sshHosts, maxPerHost }, holder) {
      const free = sshHosts.filter((name) => !rests(name) && (maxPerHost === 0 || of(name).running < maxPerHost));
      const fit = free.filter((name) => unfit.problemOf(name) === null);
      const able = fit.length > 0 ? fit : free;
      if (holder !== null && able.includes(holder)) return holder;
      const [first = null] = able.toSorted((a, b) => of(a).running - of(b).running || of(a).lastTurn - of(b).lastTurn);
      return first;
    },
    took(name) {
      of(name).running += 1;
      of(name).lastTurn = turns += 1;
    },
    gave: (name) => void (of(name).running -= 1),
    heard: (name) => void Object.assign(of(name), { heardAt: clock.now(), restsUntil: 0, problem: null }),
    failed: (name, why) => void Object.assign(of(name), { restsUntil: clock.now() + REST_MS, problem: why }),
    heardExit: unfit.heardExit,
    problemOf(names) {
      if (names.length === 0 || names.some((name) => !rests(name))) return null;
      return names.map((name) => of(name).problem).join('; ');
    },
    views: ({ sshHosts, maxPerHost }) =>
      sshHosts.map((name) => {
        const { running, heardAt } = of(name);
        const problem = of(name).problem ?? unfit.problemOf(name);
        const slots = maxPerHost === 0 ? null : maxPerHost;
        return { name, kind: 'ssh', labels: [], slots, running, load: null, version: null, heardAt, problem };
      }),
  };
}
