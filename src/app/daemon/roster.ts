import type { State } from '../../domain/model/state.ts';
import type { WatchedTracker } from './watched-tracker.ts';

/** Every tracker whose runs are not over, by identity, and the one of them that is watched. */
export interface Roster {
  readonly all: Map<string, WatchedTracker>;
  active: WatchedTracker | null;
}

export function activeOf({ active }: Roster): WatchedTracker {
  if (active === null) throw new Error('no tracker is watched yet');
  return active;
}

/** Those that were watched before. */
export function othersOf({ all, active }: Roster): readonly WatchedTracker[] {
  return [...all.values()].filter((tracker) => tracker !== active);
}

/** The states of all trackers; the same list as long as none of them changed. */
export function createStates(roster: Roster): () => readonly State[] {
  let seen: readonly State[] = [];
  return () => {
    const states = [activeOf(roster), ...othersOf(roster)].map(({ loop }) => loop.state());
    if (states.length !== seen.length || states.some((state, index) => state !== seen[index])) seen = states;
    return seen;
  };
}
