import { invalidInput } from './failures.ts';
import { fits } from './filter.ts';
import type { FakeComment, FakeIssue, FakeLabel, FakeState, FakeTeam, FakeUser, World } from './store.ts';
import { identifierOf } from './store.ts';

// Records as the schema has them. Members that lead to other records are functions, so that none is built unasked.

export interface ListArgs {
  readonly first?: number | null;
  readonly after?: string | null;
  readonly filter?: unknown;
  readonly includeArchived?: boolean | null;
}

const BORN = '2026-01-01T00:00:00.000Z';
const TIMES = { createdAt: BORN, updatedAt: BORN };

export function userNode(user: FakeUser) {
  return { ...user, ...TIMES };
}

export function teamNode(world: World, team: FakeTeam) {
  return {
    ...team,
    ...TIMES,
    name: `Team ${team.key}`,
    states: (args: ListArgs) => connection(stateList(world, team, args.filter), args, world.maxPageSize),
    labels: (args: ListArgs) => {
      const own = world.labels.filter((label) => label.team === team && fits(args.filter, labelView(label)));
      return connection(
        own.map((label) => labelNode(world, label)),
        args,
        world.maxPageSize,
      );
    },
  };
}

export function stateList(world: World, team: FakeTeam, filter: unknown) {
  return team.states.filter((state) => fits(filter, { ...state, team })).map((state) => stateNode(world, team, state));
}

export function stateNode(world: World, team: FakeTeam, state: FakeState) {
  return { ...state, ...TIMES, position: team.states.indexOf(state), color: '#bec2c8', team: () => teamNode(world, team) };
}

export function labelNode(world: World, label: FakeLabel) {
  return { ...label, ...TIMES, color: '#bec2c8', parent: null, team: () => label.team && teamNode(world, label.team) };
}

/** What a filter may look at. */
export function labelView({ id, name, isGroup, team }: FakeLabel) {
  return { id, name, isGroup, team };
}

export function issueView(issue: FakeIssue) {
  return { ...issue, labels: [...issue.labels].map(labelView) };
}

export function issueNode(world: World, issue: FakeIssue): object {
  const { id, number, title, description, priority, branchName, createdAt, updatedAt, archivedAt, trashed } = issue;
  const identifier = identifierOf(issue);
  return {
    id,
    identifier,
    number,
    title,
    description,
    priority,
    branchName,
    createdAt,
    updatedAt,
    archivedAt,
    trashed,
    url: `https://linear.app/acme/issue/${identifier}`,
    labelIds: [...issue.labels].map((label) => label.id),
    previousIdentifiers: [],
    reactions: [],
    reactionData: {},
    sharedAccess: {
      disallowedIssueFields: [],
      isShared: false,
      sharedWithCount: 0,
      sharedWithUsers: [],
      viewerHasOnlySharedAccess: false,
    },
    state: () => stateNode(world, issue.team, issue.state),
    team: () => teamNode(world, issue.team),
    assignee: () => issue.assignee && userNode(issue.assignee),
    creator: () => issue.creator && userNode(issue.creator),
    parent: () => issue.parent && issueNode(world, issue.parent),
    labels: (args: ListArgs) => {
      const carried = [...issue.labels].filter((label) => fits(args.filter, labelView(label)));
      return connection(
        carried.map((label) => labelNode(world, label)),
        args,
      );
    },
    comments: (args: ListArgs) => connection(commentsOf(world, issue), args, world.maxPageSize),
    inverseRelations: (args: ListArgs) => connection(relationsOf(world, issue), args),
  };
}

// Newest first, as every list of the vendor that is not told otherwise.
function commentsOf(world: World, issue: FakeIssue) {
  return issue.comments
    .map((comment) => commentNode(world, issue, comment))
    .toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
}

export function commentNode(world: World, issue: FakeIssue, { id, body, createdAt, user, bot }: FakeComment) {
  return {
    id,
    body,
    createdAt,
    updatedAt: createdAt,
    reactions: [],
    reactionData: {},
    url: `https://linear.app/acme/issue/${identifierOf(issue)}#comment-${id}`,
    user: user && userNode(user),
    botActor: bot === null ? null : { id: null, name: bot, type: 'integration' },
    issue: () => issueNode(world, issue),
  };
}

function relationsOf(world: World, issue: FakeIssue) {
  return issue.inverseRelations.map(({ id, type, issue: other }) => ({
    ...TIMES,
    id,
    type,
    issue: () => issueNode(world, other),
    relatedIssue: () => issueNode(world, issue),
  }));
}

/** One page. The cursor is the vendor's business, so it is nothing one could guess. */
export function connection<T extends { readonly id: string }>(all: readonly T[], { first, after }: ListArgs, maxPageSize = 250) {
  const wanted = first ?? 50;
  if (wanted < 0 || wanted > 250) throw invalidInput('first must not be greater than 250.');
  const start = after ? all.findIndex(({ id }) => cursorOf(id) === after) + 1 : 0;
  if (after && start === 0) throw invalidInput('after is not a cursor of this list.');
  const nodes = all.slice(start, start + Math.min(wanted, maxPageSize));
  return {
    nodes,
    pageInfo: {
      startCursor: nodes[0] ? cursorOf(nodes[0].id) : null,
      endCursor: nodes.length > 0 ? cursorOf(nodes.at(-1)!.id) : null,
      hasNextPage: start + nodes.length < all.length,
      hasPreviousPage: start > 0,
    },
  };
}

function cursorOf(id: string): string {
  return Buffer.from(`at:${id}`).toString('base64url');
}
