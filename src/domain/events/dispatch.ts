import { ask } from '../pending-effects.ts';
import { announce, change, changePoll, type Draft } from '../draft.ts';
import { findAhead } from '../model/find-ahead.ts';
import { allHeld, holdMore, noneHeld } from '../model/holds-so-far.ts';
import type { Hold, HoldCounts, HoldReason, HoldVerdict } from '../model/hold.ts';
import { refOf, type Issue } from '../model/issue.ts';
import { CANDIDATES_PER_SLICE, type DispatchStage, type PollInFlight } from '../model/poll.ts';
import type { State } from '../model/state.ts';
import { listOf, mapOfList, withEntry } from '../model/versioned-map.ts';
import { isBudget, spentOn } from '../rules/budget.ts';
import { holdOf } from '../rules/dispatch-filters.ts';
import { isSlotTaken } from '../rules/slots.ts';
import { FIRST_SIGHTS_PER_POLL, isFirstSight, noteApproval, readFirstSights } from './approval.ts';
import { lanesOf } from './fill-slots.ts';
import { TOLD_EACH, noteHold } from './note-hold.ts';
import { park } from './parking.ts';
import { endPoll, enter } from './poll-stages.ts';
import { recallUnapproved } from './queued-runs.ts';
import { forgetSpent } from './spent.ts';
import { FIRST_START, startRun } from './start-run.ts';

/** Before the first candidate. */
export function dispatchStage({ holds }: State, candidates: readonly Issue[], read: DispatchStage['read']): DispatchStage {
  const list = listOf(holds);
  return {
    at: 'dispatching',
    candidates,
    index: 0,
    read,
    dispatched: 0,
    held: noneHeld(list),
    last: { holds, list, walked: 0 },
    seen: null,
    fruitless: 0,
    firstSights: [],
    counts: {},
    news: {},
  };
}

/** Walks the candidates in order: each one is started or gets a reason why not. */
export function dispatch(draft: Draft, inFlight: PollInFlight, stage: DispatchStage): void {
  const { candidates, read } = stage;
  const end = Math.min(stage.index + CANDIDATES_PER_SLICE, candidates.length);
  const [counts, news] = [{ ...stage.counts }, { ...stage.news }];
  const firstSights = [...stage.firstSights];
  const held = holdMore(stage.held);
  const last = walkLastHolds(draft.state, stage);
  let { dispatched, fruitless, seen } = stage;
  for (let index = stage.index; index < end; index += 1) {
    const issue = candidates[index] as Issue;
    // Of a list that was read page by page, one may be on two of them.
    if (issue.id === seen) continue;
    seen = issue.id;
    noteApproval(draft, issue);
    recallUnapproved(draft, issue);
    if (firstSights.length < FIRST_SIGHTS_PER_POLL && isFirstSight(draft.state, issue)) firstSights.push(refOf(issue));
    const blockers = read.get(issue.id);
    const found = holdOf(draft, issue, blockers) ?? holdUntilRead(draft, issue);
    if (found === null) {
      startRun(draft, refOf(issue), FIRST_START);
      dispatched += 1;
      continue;
    }
    const before = last.of(issue.id);
    const verdict = untilReadAgain(found, before);
    const hold = noteHold(draft, issue, verdict, before, news);
    held.add(hold);
    counts[verdict.reason] = (counts[verdict.reason] ?? 0) + 1;
    if (blockers !== undefined && !isSlotTaken(verdict)) fruitless += 1;
    if (isBudget(verdict.reason)) park(draft, hold.issue, verdict.reason, verdict.detail);
  }
  const next: DispatchStage = {
    ...stage,
    index: end,
    dispatched,
    held: held.soFar(),
    last: { holds: draft.state.holds, list: last.list, walked: last.walked() },
    seen,
    fruitless,
    firstSights,
    counts,
    news,
  };
  if (end >= candidates.length) return endDispatch(draft, inFlight, next);
  enter(draft, next);
  ask(draft, { do: 'go-on' });
}

/**
 * A search may lag and still list what was handed off a moment ago: one that was worked on before is read by itself, which its run
 * needs anyway. Its slot is kept for it.
 */
function holdUntilRead(draft: Draft, issue: Issue): HoldVerdict | null {
  if (spentOn(draft.state, issue.id).sessions === 0) return null;
  const ref = refOf(issue);
  // Noted at once: those that come after it in this walk see whose slot it is.
  change(draft, { holds: withEntry(draft.state.holds, issue.id, { issue: ref, ...READ_AGAIN, since: draft.now }) });
  ask(draft, { do: 'read-candidate', issue: ref });
  return READ_AGAIN;
}

const READ_AGAIN: HoldVerdict = { reason: 'read_again', detail: 'it was worked on before, and is read before it starts again' };

/** Blockers are read in turn: what the last reading told of them holds until the next one. */
function untilReadAgain(found: HoldVerdict, before: Hold | undefined): HoldVerdict {
  const isTold = before?.reason === 'blocked_by' || before?.reason === 'blockers_unresolved';
  return found.reason === 'blockers_not_read' && isTold ? { reason: before.reason, detail: before.detail } : found;
}

/**
 * Finds what held each candidate before. The holds of the last poll stand in nearly the order of the candidates, so that
 * both are walked over together; only what is not found on the way is looked up.
 */
function walkLastHolds({ holds }: State, { last }: DispatchStage) {
  // Something else than this walk may have changed them since the last slice.
  const list = holds === last.holds ? last.list : listOf(holds);
  let { walked } = last;
  return {
    list,
    walked: () => walked,
    of(issueId: string): Hold | undefined {
      const at = findAhead(list, walked, issueId, isHoldOf);
      if (at < 0) return holds.get(issueId);
      walked = at + 1;
      return list[at];
    },
  };
}

function isHoldOf(issueId: string, { issue }: Hold): boolean {
  return issue.id === issueId;
}

/** What was read of an issue that is no candidate by now is older than that. */
function withoutLeft<T>(found: readonly T[], { left }: PollInFlight, idOf: (one: T) => string): readonly T[] {
  return left === undefined ? found : found.filter((one) => !left.has(idOf(one)));
}

function endDispatch(draft: Draft, inFlight: PollInFlight, stage: DispatchStage): void {
  const { candidates, dispatched, fruitless, counts, news } = stage;
  const held = withoutLeft(allHeld(stage.held), inFlight, ({ issue }) => issue.id);
  // What is looked up in them stays found where none has changed.
  if (held !== listOf(draft.state.holds)) change(draft, { holds: mapOfList(held, ({ issue }) => issue.id) });
  changePoll(draft, { queue: { lanes: lanesOf(draft.state, held, draft.now), fruitless } });
  forgetSpent(draft);
  readFirstSights(
    draft,
    withoutLeft(stage.firstSights, inFlight, ({ id }) => id),
  );
  for (const [reason, count] of Object.entries(news) as [HoldReason, number][]) {
    if (count > TOLD_EACH) announce(draft, 'poll:candidates:held', { reason, candidates: count - TOLD_EACH });
  }
  if (held.length > 0) announce(draft, 'poll:holds:counted', { counts });
  endPoll(draft, inFlight, { candidates: candidates.length, dispatched, held: withoutClaimed(draft.state, counts), fault: null });
}

/** Those that we hold have lists of their own, whatever keeps them back. */
function withoutClaimed({ claims, holds }: State, counts: HoldCounts): HoldCounts {
  const left: { -readonly [Reason in HoldReason]?: number } = { ...counts };
  for (const id of claims.keys()) {
    const reason = holds.get(id)?.reason;
    const count = reason && left[reason];
    if (reason === undefined || count === undefined) continue;
    if (count > 1) left[reason] = count - 1;
    else delete left[reason];
  }
  return left;
}
