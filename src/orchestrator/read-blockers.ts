import type { Answer } from '../domain/model/fault.ts';
import type { Blocker } from '../domain/model/issue.ts';
import { INCOMPLETE } from '../domain/rules/dispatch-filters.ts';
import type { Tracker } from '../ports/tracker.ts';
import { answer } from './answer.ts';

/** The blockers of an issue whose list was not whole. A tracker that tells them in its lists alone has nothing to add. */
export async function readBlockersOf(
  { blockers }: Tracker,
  issueId: string,
  signal: AbortSignal,
): Promise<Answer<readonly Blocker[]>> {
  return blockers ? answer(blockers.read(issueId, signal)) : INCOMPLETE;
}
