import { announce, change, changePoll, type Draft } from '../draft.ts';
import type { Quota } from '../model/quota.ts';
import { pacedInterval, unpaidPoll } from '../rules/quota.ts';

/** A reading that pays for the poll that waits lets it begin. */
export function onQuotasRead(draft: Draft, quotas: readonly Quota[]): void {
  change(draft, { quotas: new Map(quotas.map((quota) => [`${quota.kind} ${quota.resource}`, quota])) });
  if (draft.state.poll.postponed === null || unpaidPoll(draft.state, draft.now) !== null) return;
  endWait(draft);
  changePoll(draft, { nextAt: draft.now });
}

/** Polls no longer wait for the quota, if they did. */
export function endWait(draft: Draft): void {
  if (draft.state.poll.postponed === null) return;
  changePoll(draft, { postponed: null });
  announce(draft, 'poll:tick:resumed', {});
}

/**
 * While polls wait, running issues are looked up so often: somebody may have finished or moved them. Also where nothing is
 * left, for the remote may answer all the same.
 */
const LOOKUP_MS = 120_000;

/** Puts off a poll that the tracker's quota cannot pay for. Says whether it did; told once for each wait. */
export function postponeUnpaid(draft: Draft): boolean {
  const postponed = unpaidPoll(draft.state, draft.now);
  if (postponed === null) {
    endWait(draft);
    return false;
  }
  const isNews = draft.state.poll.postponed?.until !== postponed.until;
  changePoll(draft, { postponed, nextAt: Math.min(postponed.until, draft.now + LOOKUP_MS), refreshAt: null });
  if (isNews) announce(draft, 'poll:tick:postponed', postponed);
  return true;
}

/** The time between two polls: as configured, unless a budget asks for more. */
export function pollInterval(draft: Draft): number {
  const { settings, poll } = draft.state;
  const { intervalMs } = settings.polling;
  const paced = Math.ceil(pacedInterval(draft.state, draft.now));
  const pacedTo = paced > intervalMs ? paced : null;
  if (pacedTo !== null && poll.pacedTo === null) announce(draft, 'poll:pace:slowed', { intervalMs: pacedTo });
  if (pacedTo === null && poll.pacedTo !== null) announce(draft, 'poll:pace:restored', { intervalMs });
  changePoll(draft, { pacedTo });
  return pacedTo ?? intervalMs;
}
