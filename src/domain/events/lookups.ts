import { putParked, unpark, type Draft } from '../draft.ts';
import { sameState, type Issue } from '../model/issue.ts';
import type { OlderRuns } from '../model/effect.ts';
import type { Settings } from '../model/settings.ts';
import type { State } from '../model/state.ts';

/** At most this many parked issues are looked up in one poll: some trackers take one request for each. */
const PARKED_LOOKUPS_PER_POLL = 20;

/** Ids we need the tracker's word on: everything that runs, and in turn what is parked (to see it moved). */
export function idsToLookUp(state: State): readonly string[] {
  const parked = [...state.parked.keys()];
  const first = parked.length === 0 ? 0 : (state.poll.count * PARKED_LOOKUPS_PER_POLL) % parked.length;
  const turn = [...parked.slice(first), ...parked.slice(0, first)].slice(0, PARKED_LOOKUPS_PER_POLL);
  return [...state.live.keys(), ...turn];
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

/** A parked issue that the candidate list shows in another state has been touched by a person, unless the list is older. */
export function releaseMovedParked(draft: Draft, candidates: readonly Issue[], parkedMeanwhile: ReadonlySet<string>): void {
  if (draft.state.parked.size === 0) return;
  for (const issue of candidates) {
    const parked = draft.state.parked.get(issue.id);
    if (parked === undefined || parkedMeanwhile.has(issue.id)) continue;
    if (parked.stateAtPark === null) putParked(draft, { ...parked, stateAtPark: issue.state });
    else if (!sameState(parked.stateAtPark, issue.state)) unpark(draft, parked, `its state changed to "${issue.state}"`);
  }
}
