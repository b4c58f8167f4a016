import type { Approval } from '../model/claim.ts';
import type { Approvable, Issue, Person } from '../model/issue.ts';
import type { TrackerSettings } from '../model/settings.ts';
import type { HoldVerdict } from '../model/hold.ts';
import type { State } from '../model/state.ts';

type Authors = TrackerSettings['authors'];

/** Whether the word of a person counts. What is not known does not make anybody trusted. */
export function isTrusted(authors: Authors, person: Person | null | undefined): boolean {
  if (authors === 'anyone') return true;
  if (!person) return false;
  if (authors === 'collaborators') return person.mayWrite === true;
  return authors.some((name) => person.names.some((known) => known.toLowerCase() === name.toLowerCase()));
}

/** An issue by somebody whose word does not count is not worked on. */
export function authorHold({ authors }: TrackerSettings, issue: Issue): HoldVerdict | null {
  if (isTrusted(authors, issue.author)) return null;
  return { reason: 'untrusted_author', detail: whyUntrusted(authors, issue.author) };
}

function whyUntrusted(authors: Authors, author: Person | null | undefined): string {
  if (!author) return 'the tracker does not tell who opened it, and tracker.authors asks for that';
  const name = author.names[0] ?? author.id;
  if (authors !== 'collaborators') return `${name} opened it and is not in tracker.authors`;
  if (author.mayWrite === false) return `${name} opened it and has no write access (tracker.authors is collaborators)`;
  return `${name} opened it, and whether they have write access is not known: ${author.whyUnknown ?? 'they are asked about at a later poll'}`;
}

/** An issue that must be approved is worked on only with the label, and only as it was when the label was first seen. */
export function approvalHold(state: State, issue: Issue): HoldVerdict | null {
  const label = state.settings.tracker.approvalLabel;
  if (label === null) return null;
  if (!issue.labels.includes(label)) return { reason: 'not_approved', detail: `it does not carry the label "${label}"` };
  const { approvable } = issue;
  if (!approvable) return lastLook(state, issue.id) ?? NOT_READ;
  const approval = state.approvals.get(issue.id);
  if (!approval || isNewApproval(approval, approvable, label) || approval.digest === approvable.digest) return null;
  return { reason: 'changed_after_approval', detail: changedDetail(label) };
}

const NOT_READ: HoldVerdict = {
  reason: 'approval_not_read',
  detail: 'it is read whole before it starts, to see that what was approved is what it says',
};

/** A list does not tell what reading it whole does: what the last try found holds until the next. */
function lastLook(state: State, issueId: string): HoldVerdict | null {
  const before = state.holds.get(issueId);
  if (before?.reason !== 'changed_after_approval' && before?.reason !== 'approval_not_read') return null;
  return { reason: before.reason, detail: before.detail };
}

function changedDetail(label: string): string {
  return `its title, description or comments changed after it was approved: look at it again, then take the label "${label}" off and set it anew`;
}

/** The label was set again since, or it is another one. */
export function isNewApproval(approval: Approval, { labelling }: Approvable, label: string): boolean {
  if (approval.label !== label) return true;
  return approval.labelling !== '' && labelling !== '' && approval.labelling !== labelling;
}
