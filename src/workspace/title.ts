import type { WorkspaceSubject } from '../ports/workspace.ts';

/** How commits and requests are called: as the issue is, in one line that git takes. */
export function titleOf({ identifier, title }: Pick<WorkspaceSubject, 'identifier' | 'title'>): string {
  const line = title.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  return line === '' ? identifier : withoutOrders(line);
}

const SKIPS_CI = /\[((?:skip|no)[ _-](?:ci|actions)|(?:ci|actions)[ _-]skip)\]/gi;
const ENDS_ISSUES = /\b(?:clos|fix|resolv|implement|reopen)/i;
/** What stands before the number of an issue: `#9`, `acme/shop#9`, `GH-9` or its address. */
const NAMES_ISSUE = / ?[#!](?=\d)|(?<=\bGH)-(?=\d)|(?<=\/(?:issues|work_items|pulls?|merge_requests))\/(?=\d)/gi;

/** The title of an issue is what somebody wrote: it has the forge neither skip CI nor close another issue. */
function withoutOrders(title: string): string {
  const read = title.replaceAll(SKIPS_CI, '($1)');
  return ENDS_ISSUES.test(read) ? read.replaceAll(NAMES_ISSUE, ' no. ').trim() : read;
}
