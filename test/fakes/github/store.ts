/** What the fake remote remembers. Everything may be changed at any time, as by other people. */
export interface FakeRepo {
  readonly id: number;
  readonly owner: string;
  readonly name: string;
  /** Canonical spelling by lower-case name. */
  readonly labels: Map<string, string>;
  readonly issues: Map<number, FakeIssue>;
}

export interface FakeIssue {
  readonly number: number;
  readonly globalId: number;
  title: string;
  body: string | null;
  state: 'open' | 'closed';
  stateReason: string | null;
  /** In their canonical spelling. */
  labels: string[];
  assignees: string[];
  type: string | null;
  pullRequest: boolean;
  locked: boolean;
  author: string;
  createdAt: string;
  updatedAt: string;
  closedAt: string | null;
  comments: FakeComment[];
  blockedBy: IssuePlace[];
  parent: IssuePlace | null;
  /** Its journal, oldest first. */
  events: FakeEvent[];
  /** Answers 410. */
  deleted: boolean;
  /** Answers 301. */
  movedTo: IssuePlace | null;
}

export interface FakeComment {
  readonly id: number;
  /** Null when the account is gone. */
  readonly author: string | null;
  readonly body: string;
  readonly createdAt: string;
}

export interface FakeEvent {
  readonly id: number;
  readonly event: string;
  /** Null when the label was deleted since. */
  readonly label: string | null;
  readonly actor: string | null;
  createdAt: string;
}

export interface IssuePlace {
  /** `owner/name`; the main repository when left out. */
  readonly repo?: string;
  readonly number: number;
}

export type NewIssue = Partial<Omit<FakeIssue, 'number' | 'globalId' | 'comments' | 'events'>> & {
  repo?: string;
  number?: number;
};

export type NewComment = { author?: string | null; body: string; createdAt?: string };

export interface Store {
  readonly main: FakeRepo;
  /** Accounts that are bots although their names do not say so. */
  readonly bots: Set<string>;
  /** Accounts that are nothing to the repository; all others are members of it. */
  readonly strangers: Set<string>;
  /** Whether anybody can see the main repository. */
  isPublic: boolean;
  /** Case does not matter in names. Undefined when there is none. */
  repo(fullName: string): FakeRepo | undefined;
  repoById(id: number): FakeRepo | undefined;
  repos(): readonly FakeRepo[];
  addRepo(fullName: string): FakeRepo;
  addLabel(repo: FakeRepo, name: string): string;
  addIssue(parts: NewIssue): FakeIssue;
  addComment(issue: FakeIssue, parts: NewComment): FakeComment;
  /** Both leave a trace in the journal. */
  label(repo: FakeRepo, issue: FakeIssue, name: string, actor?: string): void;
  /** False when it was not there. */
  unlabel(issue: FakeIssue, name: string, actor?: string): boolean;
  addEvent(issue: FakeIssue, event: string, parts?: Partial<FakeEvent>): FakeEvent;
  find(place: IssuePlace): { repo: FakeRepo; issue: FakeIssue } | undefined;
  nextId(): number;
  /** A moment later than every one before. */
  tick(): string;
}

export function createStore(project: string, labels: readonly string[]): Store {
  const repos = new Map<string, FakeRepo>();
  let ids = 1000;
  let now = Date.parse('2026-01-01T00:00:00Z');

  const store: Store = {
    main: undefined as unknown as FakeRepo,
    bots: new Set(),
    strangers: new Set(),
    isPublic: false,
    repo: (fullName) => repos.get(fullName.toLowerCase()),
    repoById: (id) => [...repos.values()].find((repo) => repo.id === id),
    repos: () => [...repos.values()],
    addRepo: (fullName) => {
      const [owner = '', name = ''] = fullName.split('/');
      const repo = { id: (ids += 1), owner, name, labels: new Map<string, string>(), issues: new Map<number, FakeIssue>() };
      repos.set(fullName.toLowerCase(), repo);
      return repo;
    },
    addLabel: (repo, name) => {
      const key = name.toLowerCase();
      if (!repo.labels.has(key)) repo.labels.set(key, name);
      return repo.labels.get(key) ?? name;
    },
    addIssue: ({ repo: fullName = project, number, ...parts }) => {
      const repo = store.repo(fullName) ?? store.addRepo(fullName);
      const issue = newIssue(number ?? Math.max(0, ...repo.issues.keys()) + 1, (ids += 1), store.tick());
      Object.assign(issue, parts, { labels: (parts.labels ?? []).map((name) => store.addLabel(repo, name)) });
      repo.issues.set(issue.number, issue);
      return issue;
    },
    addComment: (issue, { author = 'ann', body, createdAt = store.tick() }) => {
      const comment = { id: (ids += 1), author, body, createdAt };
      issue.comments.push(comment);
      issue.updatedAt = store.tick();
      return comment;
    },
    label: (repo, issue, name, actor = 'token-owner') => {
      const canonical = store.addLabel(repo, name);
      if (issue.labels.includes(canonical)) return;
      issue.labels.push(canonical);
      store.addEvent(issue, 'labeled', { label: canonical, actor });
    },
    unlabel: (issue, name, actor = 'token-owner') => {
      const index = issue.labels.findIndex((one) => one.toLowerCase() === name.toLowerCase());
      const [label] = index === -1 ? [] : issue.labels.splice(index, 1);
      if (label !== undefined) store.addEvent(issue, 'unlabeled', { label, actor });
      return label !== undefined;
    },
    addEvent: (issue, event, parts = {}) => {
      const entry = { id: store.nextId(), event, label: null, actor: 'ann', createdAt: store.tick(), ...parts };
      issue.events.push(entry);
      issue.updatedAt = store.tick();
      return entry;
    },
    nextId: () => (ids += 1),
    find: ({ repo: fullName = project, number }) => {
      const repo = store.repo(fullName);
      const issue = repo?.issues.get(number);
      return repo && issue && { repo, issue };
    },
    tick: () => {
      now += 60_000;
      return new Date(now).toISOString().replace('.000Z', 'Z');
    },
  };
  const main = store.addRepo(project);
  for (const label of labels) store.addLabel(main, label);
  return Object.assign(store, { main });
}

function newIssue(number: number, globalId: number, createdAt: string): FakeIssue {
  return {
    number,
    globalId,
    title: `Issue ${number}`,
    body: null,
    state: 'open',
    stateReason: null,
    labels: [],
    assignees: [],
    type: null,
    pullRequest: false,
    locked: false,
    author: 'ann',
    createdAt,
    updatedAt: createdAt,
    closedAt: null,
    comments: [],
    blockedBy: [],
    parent: null,
    events: [],
    deleted: false,
    movedTo: null,
  };
}
