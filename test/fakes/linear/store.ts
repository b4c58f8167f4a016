/** What the fake workspace keeps. */
export interface World {
  readonly teams: FakeTeam[];
  readonly users: FakeUser[];
  readonly labels: FakeLabel[];
  readonly issues: FakeIssue[];
  /** Longer lists are cut to pages of this size, whatever was asked for. The short lists inside an issue are not. */
  readonly maxPageSize: number;
  /** Labels of this team may not be created. */
  readonly labelsRefused: boolean;
  readonly viewer: FakeUser;
  nextId(): string;
  /** Moves on by a minute at each call, so that every record has a time of its own. */
  now(): string;
}

export interface FakeState {
  readonly id: string;
  name: string;
  readonly type: string;
}

export interface FakeTeam {
  readonly id: string;
  readonly key: string;
  readonly states: FakeState[];
}

export interface FakeUser {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly email: string;
}

export interface FakeLabel {
  readonly id: string;
  readonly name: string;
  /** Null: of the workspace. */
  readonly team: FakeTeam | null;
  readonly isGroup: boolean;
}

export interface FakeComment {
  readonly id: string;
  readonly body: string;
  readonly createdAt: string;
  readonly user: FakeUser | null;
  /** Set where no person wrote it. */
  readonly bot: string | null;
}

export interface FakeRelation {
  readonly id: string;
  readonly type: string;
  /** The issue that blocks, duplicates or relates to the one that keeps this. */
  readonly issue: FakeIssue;
}

export interface FakeIssue {
  readonly id: string;
  readonly number: number;
  readonly team: FakeTeam;
  title: string;
  description: string | null;
  priority: number;
  branchName: string;
  state: FakeState;
  readonly labels: Set<FakeLabel>;
  assignee: FakeUser | null;
  readonly creator: FakeUser | null;
  parent: FakeIssue | null;
  readonly createdAt: string;
  updatedAt: string;
  archivedAt: string | null;
  trashed: boolean | null;
  readonly inverseRelations: FakeRelation[];
  readonly comments: FakeComment[];
}

export interface NewIssue {
  readonly title?: string;
  readonly description?: string | null;
  readonly priority?: number;
  readonly branchName?: string;
  /** The name of a state of the team. */
  readonly state?: string;
  /** Created where the team has none of this name. */
  readonly labels?: readonly string[];
  readonly assignee?: string | null;
  readonly creator?: string;
  /** Id of another issue. */
  readonly parent?: string;
  /** Ids of other issues. */
  readonly blockedBy?: readonly string[];
  readonly createdAt?: string;
  /** Key of a team; the first one unless told. */
  readonly team?: string;
}

export interface NewComment {
  readonly body: string;
  readonly author?: string;
  readonly bot?: string;
  readonly createdAt?: string;
}

export interface WorldOptions {
  /** Name and category of each state of the first team. */
  readonly states?: readonly (readonly [name: string, type: string])[];
  readonly teamKey?: string;
  readonly maxPageSize?: number;
  readonly labelsRefused?: boolean;
}

/** What a new team of the vendor has. */
const USUAL_STATES: readonly (readonly [string, string])[] = [
  ['Triage', 'triage'],
  ['Backlog', 'backlog'],
  ['Todo', 'unstarted'],
  ['In Progress', 'started'],
  ['In Review', 'started'],
  ['Done', 'completed'],
  ['Canceled', 'canceled'],
  ['Duplicate', 'duplicate'],
];

export function createWorld({ states, teamKey = 'ENG', maxPageSize = 250, labelsRefused = false }: WorldOptions): World {
  let ids = 0;
  let minutes = 0;
  const nextId = (): string => {
    ids += 1;
    return `00000000-0000-4000-8000-${ids.toString(16).padStart(12, '0')}`;
  };
  const team = (key: string, given = USUAL_STATES): FakeTeam => ({
    id: nextId(),
    key,
    states: given.map(([name, type]) => ({ id: nextId(), name, type })),
  });
  const viewer = personOf('bot', nextId());
  return {
    teams: [team(teamKey, states), team('OPS')],
    users: [viewer],
    labels: [],
    issues: [],
    maxPageSize,
    labelsRefused,
    viewer,
    nextId,
    now: () => {
      minutes += 1;
      return new Date(Date.UTC(2026, 2, 1, 9, minutes)).toISOString();
    },
  };
}

function personOf(displayName: string, id: string): FakeUser {
  return { id, displayName, name: `${displayName} of the team`, email: `${displayName}@example.com` };
}

export function userNamed(world: World, displayName: string): FakeUser {
  const known = world.users.find((user) => user.displayName === displayName);
  if (known) return known;
  const user = personOf(displayName, world.nextId());
  world.users.push(user);
  return user;
}

export function addLabel(world: World, name: string, { team = null, isGroup = false }: Partial<FakeLabel> = {}): FakeLabel {
  const label: FakeLabel = { id: world.nextId(), name, team, isGroup };
  world.labels.push(label);
  return label;
}

/** The id itself, or the human identifier in any case. */
export function findIssue(world: World, name: string): FakeIssue | undefined {
  return world.issues.find((issue) => issue.id === name || identifierOf(issue).toLowerCase() === name.toLowerCase());
}

export function identifierOf({ team, number }: FakeIssue): string {
  return `${team.key}-${number}`;
}

export function addIssue(world: World, given: NewIssue): FakeIssue {
  const team = world.teams.find(({ key }) => key === given.team) ?? world.teams[0]!;
  const number = world.issues.filter((issue) => issue.team === team).length + 1;
  const createdAt = given.createdAt ?? world.now();
  const issue: FakeIssue = {
    id: world.nextId(),
    number,
    team,
    title: given.title ?? `Issue ${number}`,
    description: given.description ?? null,
    priority: given.priority ?? 0,
    branchName: given.branchName ?? `bot/${team.key.toLowerCase()}-${number}`,
    state: stateNamed(team, given.state ?? 'Todo'),
    labels: new Set((given.labels ?? []).map((name) => labelNamed(world, team, name))),
    assignee: given.assignee ? userNamed(world, given.assignee) : null,
    creator: given.creator ? userNamed(world, given.creator) : null,
    parent: given.parent === undefined ? null : knownIssue(world, given.parent),
    createdAt,
    updatedAt: createdAt,
    archivedAt: null,
    trashed: null,
    inverseRelations: (given.blockedBy ?? []).map((id) => ({
      id: world.nextId(),
      type: 'blocks',
      issue: knownIssue(world, id),
    })),
    comments: [],
  };
  world.issues.push(issue);
  return issue;
}

export function addComment(world: World, issue: FakeIssue, { body, author, bot, createdAt }: NewComment): FakeComment {
  const user = author === undefined ? null : userNamed(world, author);
  const comment = { id: world.nextId(), body, createdAt: createdAt ?? world.now(), user, bot: bot ?? null };
  issue.comments.push(comment);
  return comment;
}

export function knownIssue(world: World, name: string): FakeIssue {
  const issue = findIssue(world, name);
  if (!issue) throw new Error(`the fake has no issue ${name}`);
  return issue;
}

export function stateNamed(team: FakeTeam, name: string): FakeState {
  const state = team.states.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
  if (!state) throw new Error(`the fake team ${team.key} has no state ${name}`);
  return state;
}

function labelNamed(world: World, team: FakeTeam, name: string): FakeLabel {
  return world.labels.find((label) => label.name === name && label.team === team) ?? addLabel(world, name, { team });
}
