import type { Issue, IssueComment } from '../../domain/model/issue.ts';
import { normalName } from '../../domain/model/issue.ts';
import type { DerivedState, LabelStateRule } from '../shared/label-state.ts';
import { deriveState } from '../shared/label-state.ts';
import { personOf } from '../shared/person.ts';
import type { WireIssue, WireIssueState, WireNote } from './schema.ts';
import type { LabelStates } from './settings.ts';

/** The remote also keeps tasks, incidents and test cases as issues. One that does not say what it is counts as an issue. */
export function isIssue({ issue_type }: WireIssueState): boolean {
  return (issue_type ?? 'issue').toLowerCase() === 'issue';
}

/** Active, then terminal, then handoff; an issue without such a label goes by its native state. */
export function stateRule({ active, terminal, handoff }: LabelStates): LabelStateRule {
  return {
    lists: [active, terminal, handoff === null ? [] : [handoff]],
    terminal,
    open: active[0] ?? 'opened',
    closed: terminal[0] ?? 'closed',
  };
}

export function derivedState(wire: WireIssueState, rule: LabelStateRule): DerivedState {
  return deriveState(wire.labels ?? [], isClosed(wire) ? 'closed' : 'open', rule);
}

export function isClosed({ state }: WireIssueState): boolean {
  return state === 'closed';
}

/** The field mapping of the specification. `comments` stays null where they were not read. */
export function toIssue(
  wire: WireIssue,
  known: { derived: DerivedState; project: string; comments?: readonly IssueComment[] },
): Issue {
  const number = String(wire.iid);
  return {
    id: number,
    identifier: number,
    displayIdentifier: wire.references?.full || `${known.project}#${number}`,
    title: wire.title ?? '',
    description: wire.description ?? '',
    priority: null,
    state: known.derived.state,
    ...(known.derived.matches.length === 0 ? { stateAssumed: true } : {}),
    ...(known.derived.isClosed ? { isClosed: true } : {}),
    branchName: '',
    url: wire.web_url ?? '',
    labels: (wire.labels ?? []).map(normalName),
    assignee: wire.assignees?.[0]?.username ?? '',
    issueType: (wire.issue_type ?? '').toLowerCase(),
    parent: null,
    comments: known.comments ?? null,
    blockedBy: [],
    createdAt: wire.created_at ?? '',
    updatedAt: wire.updated_at ?? '',
    author: personOf(wire.author?.id, [wire.author?.username]),
  };
}

/** What people wrote, internal notes included. The system's own notes were filtered by the remote and are once more here. */
export function toComments(notes: readonly WireNote[]): readonly IssueComment[] {
  return notes.filter(({ system }) => system !== true).map(toComment);
}

function toComment({ id, author, body, created_at }: WireNote): IssueComment {
  return {
    id: String(id),
    author: author?.username ?? '',
    body: body ?? '',
    createdAt: created_at ?? '',
    writer: personOf(author?.id, [author?.username]),
  };
}
