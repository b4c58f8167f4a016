import type { Blocker, Issue, IssueComment, IssueParent, Person } from '../../domain/model/issue.ts';
import { normalName } from '../../domain/model/issue.ts';
import type { RepoKey } from '../../ports/scm.ts';
import { type DerivedState, deriveState } from '../shared/label-state.ts';
import { personOf } from '../shared/person.ts';
import type { WireComment, WireIssue } from './schema.ts';
import type { StateNames } from './settings.ts';

/** What the mapping has to know beside the record itself. */
export interface MapContext {
  readonly repository: RepoKey;
  readonly states: StateNames;
}

/** The field-mapping table of the specification. Parent and comments are read separately. */
export function toIssue(wire: WireIssue, { repository, states }: MapContext, derived = stateOf(wire, states)): Issue {
  const number = String(wire.number);
  return {
    id: number,
    identifier: number,
    displayIdentifier: qualified(repository, number),
    title: wire.title,
    description: wire.body,
    priority: null,
    state: derived.state,
    branchName: '',
    url: wire.html_url,
    labels: wire.labels.map(normalName),
    assignee: wire.assignees?.[0]?.login ?? '',
    issueType: wire.type?.name ?? '',
    parent: null,
    comments: null,
    blockedBy: hasNoBlockers(wire) ? [] : null,
    createdAt: wire.created_at,
    updatedAt: wire.updated_at,
    author: personIn(wire),
    ...(derived.matches.length === 0 ? { stateAssumed: true } : {}),
    ...(derived.isClosed ? { isClosed: true } : {}),
  };
}

export function toComment(wire: WireComment): IssueComment {
  const { id, user, body, created_at } = wire;
  return { id, author: user?.login ?? '', body, createdAt: created_at, writer: personIn(wire) };
}

/** What somebody is to the repository when they may write to it. */
const WRITERS: readonly string[] = ['OWNER', 'MEMBER', 'COLLABORATOR'];

function personIn({ user, author_association: word }: Pick<WireComment, 'user' | 'author_association'>): Person | null {
  return personOf(null, [user?.login], WRITERS.includes((word ?? '').toUpperCase()));
}

export function toParent({ number }: WireIssue): IssueParent {
  return { id: String(number), identifier: String(number) };
}

/** A blocker may live in another repository, where its number means another issue: its qualified name says so. */
export function toBlocker(issue: WireIssue, { repository, states }: MapContext): Blocker {
  const home = repositoryOf(issue);
  const number = String(issue.number);
  const { state, isClosed } = stateOfBlocker(issue, states);
  return {
    id: number,
    identifier: number,
    ...(home && !sameRepository(home, repository) ? { displayId: qualified(home, number) } : {}),
    state,
    ...(isClosed ? { isClosed } : {}),
  };
}

/** Active labels first, then terminal ones, then the handoff's; without any, what being open or closed stands for. */
export function stateOf(issue: WireIssue, { active, terminal, parking }: StateNames): DerivedState {
  const native = nativeState(issue);
  const rule = { lists: [active, terminal, parking], terminal, open: active[0] ?? native, closed: terminal[0] ?? native };
  return deriveState(issue.labels, native, rule);
}

// A closed blocker holds nothing up, also when nobody took its active label away (a merge that closes an issue does not).
function stateOfBlocker(issue: WireIssue, states: StateNames): DerivedState {
  return stateOf(issue, nativeState(issue) === 'closed' ? { ...states, active: [], parking: [] } : states);
}

export function nativeState({ state }: WireIssue): 'open' | 'closed' {
  return state.toLowerCase() === 'closed' ? 'closed' : 'open';
}

export function isPullRequest(issue: WireIssue): boolean {
  return issue.pull_request !== undefined && issue.pull_request !== null;
}

// The total, not the count of open ones: whether a blocker still holds is for its state to say.
function hasNoBlockers({ issue_dependencies_summary: summary }: WireIssue): boolean {
  return summary?.total_blocked_by === 0;
}

/** The repository an issue says it is in, from `…/repos/<owner>/<repo>`. */
export function repositoryOf({ repository_url }: WireIssue): RepoKey | undefined {
  const [, owner, repo] = /\/repos\/([^/]+)\/([^/?#]+)\/?$/.exec(repository_url) ?? [];
  return owner && repo ? { owner, repo } : undefined;
}

export function sameRepository(a: RepoKey, b: RepoKey): boolean {
  return a.owner.toLowerCase() === b.owner.toLowerCase() && a.repo.toLowerCase() === b.repo.toLowerCase();
}

function qualified({ owner, repo }: RepoKey, number: string | number): string {
  return `${owner}/${repo}#${number}`;
}
