import { announce, type Draft } from '../draft.ts';
import { refOf, type Issue } from '../model/issue.ts';
import type { Hold, HoldReason, HoldVerdict } from '../model/hold.ts';

/** So many holds of one reason are told one by one; the others are counted. */
export const TOLD_EACH = 20;

/** Remembers why a candidate was not started. A reason it did not have before is news. */
export function noteHold(
  draft: Draft,
  issue: Issue,
  verdict: HoldVerdict,
  before: Hold | undefined,
  news: Partial<Record<HoldReason, number>>,
): Hold {
  if (before && isSameHold(before, issue, verdict)) return before;
  const ref = refOf(issue);
  const { reason, detail } = verdict;
  if (before?.reason === reason) return { issue: ref, reason, detail, since: before.since };
  const count = (news[reason] ?? 0) + 1;
  news[reason] = count;
  if (count <= TOLD_EACH) announce(draft, 'issue:candidate:held', { issue: ref, ...verdict });
  return { issue: ref, reason, detail, since: draft.now };
}

/** Thousands are held poll after poll for the same reason: what did not change is kept as it is. */
function isSameHold(before: Hold, issue: Issue, { reason, detail }: HoldVerdict): boolean {
  const { title, url, state, displayIdentifier, stateAssumed = false } = before.issue;
  const shown = issue.shown ?? issue;
  return (
    before.reason === reason &&
    before.detail === detail &&
    title === shown.title &&
    url === shown.url &&
    state === issue.state &&
    displayIdentifier === issue.displayIdentifier &&
    stateAssumed === (issue.stateAssumed ?? false)
  );
}
