import type { Fault } from '../model/fault.ts';
import type { PostponedPoll, Quota } from '../model/quota.ts';
import type { State } from '../model/state.ts';

/** However long a remote asks to be left alone, it is asked again after this time. */
export const LONGEST_WAIT_MS = 3_600_000;

/** How long a remote that failed so wants to be left alone. */
export function askedWaitMs({ retryAfterMs = 0 }: Pick<Fault, 'retryAfterMs'>): number {
  return Math.min(retryAfterMs, LONGEST_WAIT_MS);
}

/** Why the next poll must wait, and until when; null when every budget can pay for it. */
export function unpaidPoll(state: State, now: number): PostponedPoll | null {
  const unpaid = pollQuotas(state, now)
    .filter((quota) => quota.remaining < wanted(state, quota))
    .map((quota) => postponed(state, quota, now));
  return unpaid.toSorted((a, b) => b.until - a.until)[0] ?? null;
}

/** Whether the remote would answer anything: what is kept for people included. */
export function isAnythingLeft(state: State, now: number): boolean {
  return pollQuotas(state, now).every(({ remaining }) => remaining > 0);
}

/** How far apart polls must be for the budgets that pace them to last until their reset; 0 where nothing asks for it. */
export function pacedInterval(state: State, now: number): number {
  const paced = pollQuotas(state, now).filter(({ rule, pollCost }) => rule === 'pace' && pollCost > 0);
  return Math.max(0, ...paced.map((quota) => spread(state, quota, now)));
}

/** Budgets that polls depend on and whose figures still hold: after its reset a budget is full. */
function pollQuotas(state: State, now: number): readonly Dated[] {
  return [...state.quotas.values()].filter((quota): quota is Dated => {
    const counts = quota.kind === state.settings.tracker.kind && quota.rule !== 'show' && quota.pollCost !== null;
    return counts && quota.resetAt !== null && quota.resetAt > now;
  });
}

type Dated = Quota & { readonly resetAt: number; readonly pollCost: number };

/** What must be left for a poll to begin. One that costs more than there ever is begins when the budget is full. */
function wanted(state: State, { pollCost, ...quota }: Dated): number {
  // Nothing changed since the last one: such a poll is free, but refused where nothing is left at all.
  if (pollCost === 0) return 1;
  return quota.limit === null ? pollCost : Math.min(keptForPeople(state, quota) + pollCost, quota.limit);
}

function keptForPeople(state: State, { limit }: Pick<Quota, 'limit'>): number {
  return Math.floor(((limit ?? 0) * state.settings.tracker.quotaReservePercent) / 100);
}

function postponed(state: State, quota: Dated, now: number): PostponedPoll {
  const { resource, remaining, limit } = quota;
  const { quotaReservePercent: percent } = state.settings.tracker;
  const left = limit === null ? `${remaining} are left` : `${remaining} of ${limit} are left`;
  const kept = limit !== null && percent > 0 ? `, and ${percent} % are kept for people` : '';
  const reason = `the tracker's quota "${resource}" cannot pay for a poll: ${left}${kept}`;
  return { until: Math.min(quota.resetAt, now + LONGEST_WAIT_MS), resource, reason };
}

function spread(state: State, quota: Dated, now: number): number {
  const payable = Math.floor((quota.remaining - keptForPeople(state, quota)) / quota.pollCost);
  // With nothing left to spread, the next poll waits for the reset by itself.
  return payable < 1 ? 0 : Math.min((quota.resetAt - now) / payable, LONGEST_WAIT_MS);
}
