import type { Blocker, Issue, IssueComment } from '../../domain/model/issue.ts';
import { normalName } from '../../domain/model/issue.ts';
import type { RepoKey } from '../../ports/scm.ts';
import type { DerivedState, LabelStateRule } from '../shared/label-state.ts';
import { deriveState } from '../shared/label-state.ts';
import { personOf } from '../shared/person.ts';
import { ageOf } from '../shared/rfc3339.ts';
import type { WireComment, WireIssue } from './schema.ts';

/** The field-mapping table of the specification. `comments` and `blockedBy` take requests of their own. */
export function toIssue(wire: WireIssue, rule: LabelStateRule): Issue {
  return {
    id: String(wire.number),
    identifier: String(wire.number),
    displayIdentifier: null,
    title: wire.title ?? '',
    description: wire.body ?? '',
    priority: null,
    ...derived(wire, rule),
    branchName: wire.ref || null,
    url: wire.html_url ?? '',
    labels: wire.labels.map(({ name }) => normalName(name)),
    assignee: wire.assignees[0]?.login ?? '',
    issueType: '',
    parent: null,
    comments: null,
    blockedBy: null,
    createdAt: wire.created_at ?? '',
    updatedAt: wire.updated_at ?? '',
    author: personOf(null, [wire.user?.login]),
  };
}

export function toComment(wire: WireComment): IssueComment {
  return {
    id: String(wire.id),
    author: wire.user?.login ?? '',
    body: wire.body ?? '',
    createdAt: wire.created_at ?? '',
    writer: personOf(null, [wire.user?.login]),
  };
}

/** A closed issue needs no label to be finished; an open one without a label has no state at all. */
function derived(wire: WireIssue, rule: LabelStateRule): Pick<Issue, 'state' | 'stateAssumed' | 'isClosed'> {
  const { state, matches, isClosed: isClosedBeside } = stateOf(wire, rule);
  const stateAssumed = matches.length === 0 && state !== '';
  return { state, ...(stateAssumed ? { stateAssumed } : {}), ...(isClosedBeside ? { isClosed: true } : {}) };
}

/** A blocker may live in another repository, which its display id then names. */
export function toBlocker(wire: WireIssue, rule: LabelStateRule, home: RepoKey): Blocker {
  const index = String(wire.number);
  const repository = wire.repository?.full_name || `${home.owner}/${home.repo}`;
  const { state, isClosed: isClosedBeside } = stateOf(wire, rule);
  const names = { id: index, identifier: index, displayId: `${repository}#${index}` };
  return { ...names, state, ...(isClosedBeside ? { isClosed: true } : {}) };
}

export function stateOf(wire: WireIssue, rule: LabelStateRule): DerivedState {
  const labels = wire.labels.map(({ name }) => name);
  return deriveState(labels, isClosed(wire) ? 'closed' : 'open', rule);
}

export function isClosed({ state }: WireIssue): boolean {
  return state === 'closed';
}

export function isPullRequest({ pull_request }: WireIssue): boolean {
  return pull_request !== undefined && pull_request !== null;
}

/** Oldest first: the remote's own order is newest first, whatever is asked for. */
export function byAge(a: Issue, b: Issue): number {
  return ageOf(a.createdAt) - ageOf(b.createdAt) || Number(a.id) - Number(b.id);
}
