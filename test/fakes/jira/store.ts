/** What the fake site keeps. Ids are global to the site, keys count within the project. */
export interface Site {
  readonly project: string;
  readonly statuses: readonly string[];
  /** Targets by status. A status that is not listed leads to every other one. */
  readonly workflow: Readonly<Record<string, readonly string[]>>;
  readonly issues: Map<string, SiteIssue>;
  /** What the search index knows: behind the issues themselves while `lagging`. */
  readonly index: Map<string, SiteIssue>;
  lagging: boolean;
  /** Fields that a screen asks for on the way to a status: status -> field -> what is said without it. */
  readonly demands: Map<string, Readonly<Record<string, string>>>;
  nextId(): string;
  /** Moves on by a minute at each call, so that every record has a time of its own. */
  now(): string;
}

export interface SiteIssue {
  readonly id: string;
  readonly key: string;
  readonly summary: string;
  /** A document tree, or null. */
  readonly description: unknown;
  readonly status: string;
  /** 1 is the highest. */
  readonly priority: number | null;
  readonly labels: readonly string[];
  readonly assignee: string | null;
  readonly creator: string;
  readonly issueType: string;
  readonly parent: string | null;
  readonly links: readonly SiteLink[];
  readonly comments: readonly SiteComment[];
  readonly created: string;
  readonly updated: string;
}

/** `inward`: the other issue blocks (or whatever the type says) this one. */
export interface SiteLink {
  readonly type: string;
  readonly direction: 'inward' | 'outward';
  readonly other: string;
}

export interface SiteComment {
  readonly id: string;
  readonly author: string;
  readonly body: unknown;
  readonly created: string;
}

/** Absent members get the site's own values. Text becomes a document of one paragraph per line. */
export interface NewIssue {
  readonly summary?: string;
  readonly description?: unknown;
  readonly status?: string;
  readonly priority?: number | null;
  readonly labels?: readonly string[];
  readonly assignee?: string | null;
  readonly creator?: string;
  readonly issueType?: string;
  /** Ids of other issues. */
  readonly parent?: string | null;
  readonly blockedBy?: readonly string[];
  readonly links?: readonly SiteLink[];
  readonly created?: string;
}

export type IssueEdit = Omit<NewIssue, 'created'>;

export interface SiteOptions {
  readonly project: string;
  readonly statuses: readonly string[];
  readonly workflow: Readonly<Record<string, readonly string[]>>;
}

export function createSite(options: SiteOptions): Site {
  let lastId = 10_000;
  let minutes = 0;
  return {
    ...options,
    issues: new Map(),
    index: new Map(),
    lagging: false,
    demands: new Map(),
    nextId: () => String((lastId += 1)),
    now: () => timeText(new Date(Date.UTC(2026, 0, 1, 0, (minutes += 1)))),
  };
}

/** The vendor's own spelling of a time: no colon in the offset. */
export function timeText(at: Date): string {
  return at.toISOString().replace('Z', '+0000');
}

export function addIssue(site: Site, given: NewIssue): SiteIssue {
  const created = given.created ?? site.now();
  const key = `${site.project}-${site.issues.size + 1}`;
  const blank: SiteIssue = {
    id: site.nextId(),
    key,
    summary: `Issue ${key}`,
    description: null,
    status: site.statuses[0] ?? '',
    priority: 3,
    labels: [],
    assignee: null,
    creator: 'Ann',
    issueType: 'Task',
    parent: null,
    links: [],
    comments: [],
    created,
    updated: created,
  };
  return put(site, edited(blank, given));
}

export function editIssue(site: Site, issue: SiteIssue, edit: IssueEdit): SiteIssue {
  return put(site, { ...edited(issue, edit), updated: site.now() });
}

export function addComment(
  site: Site,
  issue: SiteIssue,
  given: { author: string; body: unknown; created?: string | undefined },
): SiteComment {
  const comment = { id: site.nextId(), author: given.author, body: documentOf(given.body), created: given.created ?? site.now() };
  put(site, { ...issue, comments: [...issue.comments, comment], updated: comment.created });
  return comment;
}

/** What the background indexer does in its own time. */
export function reindex(site: Site): void {
  site.index.clear();
  for (const [id, issue] of site.issues) site.index.set(id, issue);
}

export function findIssue(site: Site, idOrKey: string): SiteIssue | undefined {
  return site.issues.get(idOrKey) ?? [...site.issues.values()].find(({ key }) => key === idOrKey.toUpperCase());
}

/** What an issue may do next: never to where it is. */
export function transitionsOf(site: Site, issue: SiteIssue): readonly { id: string; name: string; to: string }[] {
  const targets = site.workflow[issue.status] ?? site.statuses.filter((status) => status !== issue.status);
  return targets.map((to, index) => ({ id: String(index * 10 + 11), name: `Move on (${index})`, to }));
}

function edited(issue: SiteIssue, { description, blockedBy, links, ...plain }: NewIssue): SiteIssue {
  const blocks = blockedBy?.map((other): SiteLink => ({ type: 'Blocks', direction: 'inward', other }));
  return {
    ...issue,
    ...plain,
    ...(description === undefined ? {} : { description: documentOf(description) }),
    ...(links || blocks ? { links: [...(links ?? []), ...(blocks ?? [])] } : {}),
  };
}

function put(site: Site, issue: SiteIssue): SiteIssue {
  site.issues.set(issue.id, issue);
  if (!site.lagging || !site.index.has(issue.id)) site.index.set(issue.id, issue);
  return issue;
}

function documentOf(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  const content = text.split('\n').map((line) => ({ type: 'paragraph', content: line ? [{ type: 'text', text: line }] : [] }));
  return { type: 'doc', version: 1, content };
}
