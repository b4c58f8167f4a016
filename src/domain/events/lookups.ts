import { sameState } from '../model/issue.ts';
import type { Parked } from '../model/claim.ts';
import type { OlderRuns } from '../model/effect.ts';
import type { Settings } from '../model/settings.ts';
import type { State } from '../model/state.ts';

/** At most this many parked issues are looked up in one poll: some trackers take one request for each. */
const PARKED_LOOKUPS_PER_POLL = 20;

/** Ids we need the tracker's word on: everything that runs, and in turn what is parked (to see it moved). */
export function idsToLookUp(state: State): readonly string[] {
  const parked = [...state.parked.keys()];
  const first = parked.length === 0 ? 0 : (state.poll.count * PARKED_LOOKUPS_PER_POLL) % parked.length;
  const turn = new Set([...justParked(state), ...seenElsewhere(state), ...parked.slice(first), ...parked.slice(0, first)]);
  return [...state.live.keys(), ...[...turn].slice(0, PARKED_LOOKUPS_PER_POLL)];
}

/** Parked since the last poll began: what is read of them now is what a change is measured against. */
function justParked({ parked, poll }: State): readonly string[] {
  const isNew = ({ stateAtPark, parkedAt }: Parked): boolean => stateAtPark === null && parkedAt >= poll.begunAt;
  return [...parked].filter(([, each]) => isNew(each)).map(([id]) => id);
}

/**
 * Parked issues that the last list of candidates showed in another state. A list may be older than the park, so that a lookup has
 * to say the same before one is released.
 */
function seenElsewhere({ parked, holds }: State): readonly string[] {
  const moved: string[] = [];
  for (const [id, { stateAtPark }] of parked) {
    const listed = holds.get(id)?.issue.state;
    if (listed !== undefined && !sameState(stateAtPark ?? '', listed)) moved.push(id);
  }
  return moved;
}

/** What runs with settings of before an edit: where labels are states, another list of them reads another state. */
export function olderRuns({ live, runSettings, settings }: State): readonly OlderRuns[] {
  const older = new Map<Settings, string[]>();
  for (const [id, own] of runSettings) {
    if (own === settings || !live.has(id)) continue;
    older.set(own, [...(older.get(own) ?? []), id]);
  }
  return [...older].map(([own, ids]) => ({ settings: own, ids }));
}
