import { blockerHold, cheapHold, type Moment } from './eligibility.ts';
import { globalSlots, newcomerSlotHold } from './slots.ts';
import type { HoldVerdict } from '../model/hold.ts';
import { authorHold, approvalHold } from './trust.ts';
import type { Answer, Fault } from '../model/fault.ts';
import type { Blocker, Issue } from '../model/issue.ts';
import type { State } from '../model/state.ts';

/** At most this many issues have their blockers read in one poll. */
export const BLOCKER_READS_PER_POLL = 4;

/** Every dispatch filter, cheapest first. The dry run applies the same one. */
export function holdOf(moment: Moment, issue: Issue, read: Answer<readonly Blocker[]> | undefined): HoldVerdict | null {
  const { state } = moment;
  const own = ownHold(moment, issue);
  // One that the list shows to be blocked is not read for its approval.
  if (own?.reason === 'approval_not_read') return (issue.blockedBy && blockerHold(state, issue.blockedBy)) ?? own;
  return own ?? blockersHold(state, issue, read) ?? newcomerSlotHold(state, issue.state);
}

/** What holds an issue by itself, without a look at others. */
function ownHold(moment: Moment, issue: Issue): HoldVerdict | null {
  const { state } = moment;
  return cheapHold(moment, issue) ?? authorHold(state.settings.tracker, issue) ?? approvalHold(state, issue);
}

/** What blocks an issue, by itself or by what was read of it apart. What could not be read might. */
export function blockersHold(state: State, issue: Issue, read: Answer<readonly Blocker[]> | undefined): HoldVerdict | null {
  if (issue.blockedBy !== null) return blockerHold(state, issue.blockedBy);
  if (read === undefined) return { reason: 'blockers_not_read', detail: 'its blockers wait to be read at a later poll' };
  return read.ok ? blockerHold(state, read.value) : unresolved(read.fault);
}

export function unresolved({ message }: Fault): HoldVerdict {
  return { reason: 'blockers_unresolved', detail: `its blockers could not be read: ${message}` };
}

/** Of an issue that was read whole and does not tell its blockers: nothing else tells them. */
export const INCOMPLETE: Answer<readonly Blocker[]> = {
  ok: false,
  fault: { kind: 'tracker_api_error', message: 'the tracker gave an incomplete list of blockers', consequence: 'back-off' },
};

/** The candidates whose blockers must be read before they may run: those read longest ago first. */
export function blockersToRead(moment: Moment, candidates: readonly Issue[]): readonly Issue[] {
  const { state } = moment;
  if (globalSlots(state) <= 0) return [];
  const needy = candidates.filter(
    (issue) => issue.blockedBy === null && ownHold(moment, issue) === null && newcomerSlotHold(state, issue.state) === null,
  );
  const readAt = (issue: Issue): number => state.poll.blockersReadAt.get(issue.id) ?? 0;
  return [...needy].sort((a, b) => readAt(a) - readAt(b)).slice(0, BLOCKER_READS_PER_POLL);
}
