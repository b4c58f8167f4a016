import { ask, settleRead } from '../pending-effects.ts';
import { announce, change, changePoll, type Draft } from '../draft.ts';
import type { EventNamed } from '../model/event.ts';
import type { Fault } from '../model/fault.ts';
import { HOLDS, type Hold, type HoldReason, type HoldVerdict } from '../model/hold.ts';
import { normalState, refOf, type Issue, type IssueRef } from '../model/issue.ts';
import type { Lane } from '../model/poll.ts';
import type { State } from '../model/state.ts';
import { withEntry, withoutEntry } from '../model/versioned-map.ts';
import { cheapHold, waitsForSlot } from '../rules/eligibility.ts';
import { hasOpenSlot, isSlotTaken, openSlots } from '../rules/slots.ts';
import { noteApproval } from './approval.ts';
import { holdOf, INCOMPLETE, unresolved } from '../rules/dispatch-filters.ts';
import { isBudget } from '../rules/budget.ts';
import { fireDueRetries, mayStartRuns } from './on-retry-due.ts';
import { park } from './parking.ts';
import { FIRST_START, startRun } from './start-run.ts';

/** Reads between two polls that may lead to no start: the remote's patience is not for guessing. */
const MAX_FRUITLESS_READS = 4;

/**
 * A slot that is free is filled at once: first with what waits in the retry queue, then with candidates of the last
 * poll. Each is read again before it starts, which it needs anyway.
 */
export function fillSlots(draft: Draft): void {
  if (!mayStartRuns(draft.state)) return;
  fireDueRetries(draft);
  const { inFlight } = draft.state.poll;
  if (inFlight !== null && inFlight.stage.at !== 'reading') return;
  for (let lane = nextLane(draft.state); lane !== null; lane = nextLane(draft.state)) readNext(draft, lane);
}

/** The lane whose next issue comes first, of those that have a slot. */
function nextLane(state: State): Lane | null {
  const { lanes, fruitless } = state.poll.queue;
  if (fruitless >= MAX_FRUITLESS_READS || openSlots(state) <= 0) return null;
  let first: Lane | null = null;
  for (const lane of lanes) {
    const issue = lane.holds[lane.next]?.issue;
    if (issue === undefined || (first !== null && placeOf(first) < placeOf(lane))) continue;
    if (hasOpenSlot(state, issue.state)) first = lane;
  }
  return first;
}

function placeOf({ places, next }: Lane): number {
  return places[next] ?? 0;
}

function readNext(draft: Draft, lane: Lane): void {
  const { queue } = draft.state.poll;
  const lanes = queue.lanes.map((other) => (other === lane ? laneFrom(lane, lane.next + 1) : other));
  changePoll(draft, { queue: { ...queue, lanes } });
  const issue = lane.holds[lane.next]?.issue;
  if (issue && cheapHold(draft, issue) === null) ask(draft, { do: 'read-candidate', issue });
}

/** The lane with the next one to look at, from a place on. */
function laneFrom({ holds, places }: Omit<Lane, 'next'>, from: number): Lane {
  let next = from;
  for (let hold = holds[next]; hold && !waitsForSlot(hold.reason); hold = holds[next]) next += 1;
  return { holds, places, next };
}

/** What waits for a slot, in the order in which it is read. One whose state is full keeps only its own state waiting. */
export function lanesOf(state: State, held: readonly Hold[], now: number): readonly Lane[] {
  const holds = inReadingOrder(state, held, now);
  if (Object.keys(state.settings.agent.maxConcurrentAgentsByState).length === 0) return [laneFrom({ holds, places: [] }, 0)];
  const lanes = new Map<string, { readonly holds: Hold[]; readonly places: number[] }>();
  for (const [place, hold] of holds.entries()) {
    const name = normalState(hold.issue.state);
    const lane = lanes.get(name) ?? { holds: [], places: [] };
    lane.holds.push(hold);
    lane.places.push(place);
    lanes.set(name, lane);
  }
  return [...lanes.values()].map((lane) => laneFrom(lane, 0));
}

/**
 * Who was read in vain a short while ago comes last, the one read longest ago first: a few that are blocked must not keep
 * all others from being read. After that while it has its place again, so that it does not wait for all others either. The
 * while is long enough for half of the reads to be left for the others.
 */
function inReadingOrder({ settings, poll }: State, held: readonly Hold[], now: number): readonly Hold[] {
  const { readInVainAt, pacedTo } = poll;
  if (readInVainAt.size === 0) return held;
  const whileMs = 2 * (pacedTo ?? settings.polling.intervalMs) * (1 + readInVainAt.size / MAX_FRUITLESS_READS);
  const readAt = ({ issue }: Hold): number => readInVainAt.get(issue.id) ?? -Infinity;
  const isRecent = (hold: Hold): boolean => readAt(hold) > now - whileMs;
  return [...held.filter((hold) => !isRecent(hold)), ...held.filter(isRecent).sort((a, b) => readAt(a) - readAt(b))];
}

/** The candidate as the tracker has it now: every filter is applied again. */
export function onCandidateRead(draft: Draft, event: EventNamed<'candidate-read'>): void {
  if (!settleRead(draft, 'read-candidate', event.issueId) || draft.state.lifecycle === 'draining') return;
  const issue = event.issue.ok && event.issue.value && isCandidate(draft, event.issue.value) ? event.issue.value : null;
  if (issue !== null) noteApproval(draft, issue);
  if (issue !== null && startIfFree(draft, issue)) return;
  if (!event.issue.ok) tellUnread(draft, event.issueId, event.issue.fault);
  else if (issue === null) change(draft, { holds: withoutEntry(draft.state.holds, event.issueId) });
  // One that may run and found its slot taken was not guessed at.
  if (event.issue.ok && isSlotTaken(draft.state.holds.get(event.issueId))) return;
  const { queue, readInVainAt } = draft.state.poll;
  const kept = [...readInVainAt].filter(([id]) => draft.state.holds.has(id));
  changePoll(draft, {
    queue: { ...queue, fruitless: queue.fruitless + 1 },
    readInVainAt: new Map([...kept, [event.issueId, draft.now]]),
  });
}

/** What somebody moved meanwhile is none any more, and what somebody closed, whatever its label says. */
function isCandidate(draft: Draft, issue: Issue): boolean {
  return !issue.isClosed && cheapHold(draft, issue)?.reason !== 'not_active';
}

/** One that waits to be read says why it could not be. */
function tellUnread(draft: Draft, issueId: string, fault: Fault): void {
  const { message } = fault;
  const hold = draft.state.holds.get(issueId);
  if (hold?.reason === 'blockers_not_read') return holdAnew(draft, hold.issue, unresolved(fault));
  if (hold?.reason !== 'approval_not_read' && hold?.reason !== 'read_again') return;
  const detail = `it could not be read, which is tried again at the next poll: ${message}`;
  change(draft, { holds: withEntry(draft.state.holds, issueId, { ...hold, detail }) });
}

const BLOCKED: ReadonlySet<HoldReason> = new Set(['blocked_by', 'blockers_unresolved']);

function startIfFree(draft: Draft, issue: Issue): boolean {
  const verdict = holdOf(draft, issue, INCOMPLETE);
  if (verdict !== null) {
    holdAnew(draft, refOf(issue), verdict);
    return false;
  }
  startRun(draft, refOf(issue), FIRST_START, issue);
  return true;
}

/** A candidate that was read is held for what its reading brought. */
function holdAnew(draft: Draft, issue: IssueRef, verdict: HoldVerdict): void {
  const before = draft.state.holds.get(issue.id);
  const isNews = before?.reason !== verdict.reason;
  // What only waits for its turn was told of by the poll, and what blocks one that is read whole at each poll, at the first time.
  const isKnown = BLOCKED.has(verdict.reason) && draft.state.poll.readInVainAt.has(issue.id);
  if (isNews && !isKnown && !HOLDS[verdict.reason].isPassing) announce(draft, 'issue:candidate:held', { issue, ...verdict });
  const since = isNews ? draft.now : before.since;
  change(draft, { holds: withEntry(draft.state.holds, issue.id, { issue, ...verdict, since }) });
  if (isBudget(verdict.reason)) park(draft, issue, verdict.reason, verdict.detail);
}
