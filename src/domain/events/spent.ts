import { change, putSpent, type Draft } from '../draft.ts';
import type { Spent } from '../model/run.ts';
import type { State } from '../model/state.ts';
import { spentOn } from '../rules/budget.ts';
import { withEntry, withoutEntry } from '../model/versioned-map.ts';

/* What an issue has used up stays stored for ever. In memory it is kept only of issues that may run: a service that lives
   for years would otherwise carry every issue it ever worked on. */

/** Counted when it starts: what dies without a word has counted. */
export function countSession(draft: Draft, issueId: string): void {
  const spent = spentOn(draft.state, issueId);
  putSpent(draft, { ...spent, sessions: spent.sessions + 1 });
}

/** A restart or a limit cut the session short: the run that goes on with it counts in its place. */
export function uncountSession(draft: Draft, issueId: string): void {
  const spent = spentOn(draft.state, issueId);
  if (spent.sessions > 0) putSpent(draft, { ...spent, sessions: spent.sessions - 1 });
}

/** A poll found issues that were worked on before. What is in memory is never older than what was read. */
export function remindOfSpent(draft: Draft, stored: readonly Spent[]): void {
  for (const spent of stored) {
    if (draft.state.spent.has(spent.issueId)) continue;
    change(draft, { spent: withEntry(draft.state.spent, spent.issueId, spent) });
  }
}

/** After a poll: what it did not find, and nothing else keeps, is stored and no more. */
export function forgetSpent(draft: Draft): void {
  for (const id of draft.state.spent.keys()) {
    if (!mayRun(draft.state, id)) change(draft, { spent: withoutEntry(draft.state.spent, id) });
  }
}

/** Whether an issue may run without a poll that finds it first; one that is being read for a free slot may. */
export function mayRun({ claims, parked, watches, holds, pending }: State, issueId: string): boolean {
  const isRead = pending['read-candidate']?.has(issueId) ?? false;
  return isRead || claims.has(issueId) || parked.has(issueId) || watches.has(issueId) || holds.has(issueId);
}
