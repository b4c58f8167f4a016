import type { FakePull, FakeStatus } from './pull-store.ts';

/** What the fake instance keeps. Numbers are shared by issues and pull requests, ids are global to the instance. */
export interface Store {
  readonly owner: string;
  readonly repo: string;
  readonly labels: FakeLabel[];
  readonly issues: Map<number, FakeIssue>;
  /** By the number that each shares with its issue. */
  readonly pulls: Map<number, FakePull>;
  /** Branches and the commits at their tips. */
  readonly branches: Map<string, string>;
  /** Every commit ever seen, with its statuses, oldest first. */
  readonly commits: Map<string, FakeStatus[]>;
  /** The next global id: always far away from any issue number. */
  nextId(): number;
  /** Moves on by a minute at each call, so that every record has a time of its own. */
  now(): string;
}

export interface FakeLabel {
  readonly id: number;
  name: string;
  readonly color: string;
  readonly ofOrganization: boolean;
}

export interface FakeComment {
  readonly id: number;
  readonly author: string;
  readonly body: string;
  readonly createdAt: string;
}

export interface FakeIssue {
  readonly id: number;
  readonly number: number;
  title: string;
  body: string;
  state: 'open' | 'closed';
  ref: string;
  readonly labelIds: Set<number>;
  assignees: string[];
  readonly author: string;
  readonly createdAt: string;
  updatedAt: string;
  closedAt: string | null;
  readonly isPull: boolean;
  /** Issues that block this one. */
  readonly dependencies: Dependency[];
  readonly comments: FakeComment[];
  /** Everything that happened, oldest first. */
  readonly timeline: FakeEvent[];
}

export interface FakeEvent {
  readonly id: number;
  /** `code` is an inline comment: it takes up room in the pages of the timeline and is not shown. */
  readonly type: 'comment' | 'label' | 'code' | 'review' | 'merge_pull' | 'pull_push';
  readonly author: string;
  /** Of a label: `1` when it was added, nothing when it was removed. */
  readonly body: string;
  readonly createdAt: string;
  readonly labelId?: number;
}

/** An issue of this repository by number, or one of another repository told in full. */
export type Dependency = number | ForeignIssue;

export interface ForeignIssue {
  /** `owner/repo`; null is a blocker that the token may not see. */
  readonly repository: string | null;
  readonly number: number;
  readonly state: 'open' | 'closed';
  readonly labels: readonly string[];
}

export interface NewIssue {
  readonly title?: string;
  readonly body?: string;
  readonly state?: 'open' | 'closed';
  readonly ref?: string;
  /** By name; one that does not exist is created in the repository. */
  readonly labels?: readonly string[];
  readonly assignees?: readonly string[];
  readonly author?: string;
  readonly createdAt?: string;
  readonly isPull?: boolean;
  readonly dependencies?: readonly Dependency[];
}

export type IssueEdit = Pick<NewIssue, 'title' | 'body' | 'state' | 'ref' | 'labels' | 'assignees'>;

const MAIN_SHA = 'a'.repeat(40);

export function createStore(owner: string, repo: string): Store {
  let lastId = 7000;
  let minutes = 0;
  return {
    owner,
    repo,
    labels: [],
    issues: new Map(),
    pulls: new Map(),
    branches: new Map([['main', MAIN_SHA]]),
    commits: new Map([[MAIN_SHA, []]]),
    nextId: () => (lastId += 1),
    now: () => new Date(Date.UTC(2026, 0, 1, 0, (minutes += 1))).toISOString().replace('.000Z', 'Z'),
  };
}

export function addLabel(store: Store, name: string, { ofOrganization = false, color = 'cccccc' } = {}): FakeLabel {
  const label = { id: store.nextId(), name, color, ofOrganization };
  store.labels.push(label);
  return label;
}

/** Everywhere, as the web page does. */
export function deleteLabels(store: Store, name: string): void {
  for (const { id } of store.labels.filter((label) => label.name === name)) {
    store.labels.splice(
      store.labels.findIndex((label) => label.id === id),
      1,
    );
    for (const issue of store.issues.values()) issue.labelIds.delete(id);
  }
}

export function addIssue(store: Store, given: NewIssue): FakeIssue {
  const number = store.issues.size + 1;
  const at = given.createdAt ?? store.now();
  const state = given.state ?? 'open';
  const issue: FakeIssue = {
    id: store.nextId(),
    number,
    title: given.title ?? `Issue ${number}`,
    body: given.body ?? '',
    state,
    ref: given.ref ?? '',
    labelIds: new Set(labelIds(store, given.labels ?? [])),
    assignees: [...(given.assignees ?? [])],
    author: given.author ?? 'alice',
    createdAt: at,
    updatedAt: at,
    closedAt: state === 'closed' ? at : null,
    isPull: given.isPull ?? false,
    dependencies: [...(given.dependencies ?? [])],
    comments: [],
    timeline: [],
  };
  store.issues.set(number, issue);
  return issue;
}

export function editIssue(store: Store, issue: FakeIssue, { labels, assignees, ...plain }: IssueEdit): void {
  Object.assign(issue, plain);
  if (assignees) issue.assignees = [...assignees];
  if (labels) setLabels(store, issue, { ids: labelIds(store, labels), actor: 'alice' });
  if (plain.state) issue.closedAt = plain.state === 'closed' ? store.now() : null;
  issue.updatedAt = store.now();
}

export function addComment(
  store: Store,
  issue: FakeIssue,
  given: Omit<FakeComment, 'id' | 'createdAt'> & { createdAt?: string },
): FakeComment {
  const comment = { id: store.nextId(), createdAt: store.now(), ...given };
  issue.comments.push(comment);
  const { id, author, body, createdAt } = comment;
  issue.timeline.push({ id, type: 'comment', author, body, createdAt });
  issue.updatedAt = comment.createdAt;
  return comment;
}

/** Leaves exactly these labels, and an entry in the timeline for each that came or went. */
export function setLabels(store: Store, issue: FakeIssue, { ids, actor }: { ids: readonly number[]; actor: string }): void {
  for (const id of [...issue.labelIds].filter((one) => !ids.includes(one))) {
    issue.labelIds.delete(id);
    addEvent(store, issue, { type: 'label', author: actor, body: '', labelId: id });
  }
  for (const id of ids.filter((one) => !issue.labelIds.has(one))) {
    issue.labelIds.add(id);
    addEvent(store, issue, { type: 'label', author: actor, body: '1', labelId: id });
  }
}

export function addEvent(store: Store, issue: FakeIssue, event: Omit<FakeEvent, 'id' | 'createdAt'>): FakeEvent {
  const added = { id: store.nextId(), createdAt: store.now(), ...event };
  issue.timeline.push(added);
  return added;
}

/** In the order of their names, as the vendor lists them. */
export function labelsOf(store: Store, issue: FakeIssue): readonly FakeLabel[] {
  const carried = store.labels.filter(({ id }) => issue.labelIds.has(id));
  return carried.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export function hasOpenDependencies(store: Store, { dependencies }: FakeIssue): boolean {
  return dependencies.some((one) => (typeof one === 'number' ? store.issues.get(one) : one)?.state === 'open');
}

function labelIds(store: Store, names: readonly string[]): readonly number[] {
  return names.map((name) => (store.labels.find((label) => label.name === name) ?? addLabel(store, name)).id);
}
