import { blockerHold, cheapHold, globalSlots, slotHold, type HoldVerdict } from './eligibility.ts';
import { authorHold, approvalHold } from './trust.ts';
import type { Answer } from '../model/errors.ts';
import type { Blocker, Issue } from '../model/issue.ts';
import type { State } from '../model/state.ts';

/** At most this many issues have their blockers read in one poll. */
const BLOCKER_READS_PER_POLL = 4;

/** Every dispatch filter, cheapest first. The dry run applies the same one. */
export function holdOf(state: State, issue: Issue, read: Answer<readonly Blocker[]> | undefined): HoldVerdict | null {
  const own = ownHold(state, issue);
  // One that the list shows to be blocked is not read for its approval.
  if (own?.reason === 'approval_not_read') return (issue.blockedBy && blockerHold(state, issue.blockedBy)) ?? own;
  return own ?? blockersVerdict(state, issue, read) ?? slotHold(state, issue.state);
}

/** What holds an issue by itself, without a look at others. */
function ownHold(state: State, issue: Issue): HoldVerdict | null {
  return cheapHold(state, issue) ?? authorHold(state.settings.tracker, issue) ?? approvalHold(state, issue);
}

function blockersVerdict(state: State, issue: Issue, read: Answer<readonly Blocker[]> | undefined): HoldVerdict | null {
  if (issue.blockedBy !== null) return blockerHold(state, issue.blockedBy);
  if (read === undefined) return { reason: 'blockers_not_read', detail: 'its blockers wait to be read at a later poll' };
  if (!read.ok) return { reason: 'blockers_unresolved', detail: `its blockers could not be read: ${read.fault.message}` };
  return blockerHold(state, read.value);
}

/** The candidates whose blockers must be read before they may run: those read longest ago first. */
export function blockersToRead(state: State, candidates: readonly Issue[]): readonly Issue[] {
  if (globalSlots(state) <= 0) return [];
  const needy = candidates.filter(
    (issue) => issue.blockedBy === null && ownHold(state, issue) === null && slotHold(state, issue.state) === null,
  );
  const readAt = (issue: Issue): number => state.poll.blockersReadAt.get(issue.id) ?? 0;
  return [...needy].sort((a, b) => readAt(a) - readAt(b)).slice(0, BLOCKER_READS_PER_POLL);
}
