import type { Site, SiteComment, SiteIssue, SiteLink } from './store.ts';

/** Bodies as the vendor sends them, with more in them than anybody asks for. */
export interface Wire {
  readonly site: Site;
  /** The address of the site, for links. */
  readonly base: () => string;
}

type Body = Readonly<Record<string, unknown>>;

/** Only the named fields; `*all` names every one. */
export function issueBody(wire: Wire, issue: SiteIssue, fields: readonly string[]): Body {
  const all = fieldsOf(wire, issue);
  const wanted = Object.entries(all).filter(([name]) => fields.includes('*all') || fields.includes(name));
  return { expand: 'renderedFields,names', ...reference(wire, issue), fields: Object.fromEntries(wanted) };
}

function fieldsOf(wire: Wire, issue: SiteIssue): Body {
  const { site } = wire;
  const parent = issue.parent === null ? undefined : site.issues.get(issue.parent);
  return {
    summary: issue.summary,
    status: statusBody(wire, issue.status),
    priority: priorityBody(wire, issue.priority),
    labels: issue.labels,
    assignee: issue.assignee === null ? null : userBody(wire, issue.assignee),
    creator: userBody(wire, issue.creator),
    issuetype: issueTypeBody(wire, issue.issueType),
    // Left out altogether, rather than null, where there is none.
    ...(parent ? { parent: { ...reference(wire, parent), fields: excerpt(wire, parent) } } : {}),
    issuelinks: issue.links.map((link, index) => linkBody(wire, link, `${issue.id}${index}`)),
    created: issue.created,
    updated: issue.updated,
    description: issue.description,
    comment: { comments: [], self: `${wire.base()}/rest/api/3/issue/${issue.id}/comment`, maxResults: 0, total: 0, startAt: 0 },
    customfield_10020: null,
  };
}

export function commentBody(wire: Wire, issue: SiteIssue, comment: SiteComment): Body {
  return {
    self: `${wire.base()}/rest/api/3/issue/${issue.id}/comment/${comment.id}`,
    id: comment.id,
    author: userBody(wire, comment.author),
    body: comment.body,
    updateAuthor: userBody(wire, comment.author),
    created: comment.created,
    updated: comment.created,
    jsdPublic: true,
  };
}

export function transitionBody(wire: Wire, { id, name, to }: { id: string; name: string; to: string }): Body {
  const flags = { hasScreen: false, isGlobal: true, isInitial: false, isAvailable: true, isConditional: false, looped: false };
  return { id, name, to: statusBody(wire, to), ...flags };
}

function statusBody({ site, base }: Wire, name: string): Body {
  const id = String(10_000 + site.statuses.indexOf(name));
  const category = {
    self: `${base()}/rest/api/3/statuscategory/4`,
    id: 4,
    key: 'indeterminate',
    colorName: 'yellow',
    name: 'In Progress',
  };
  return {
    self: `${base()}/rest/api/3/status/${id}`,
    description: '',
    iconUrl: `${base()}/`,
    name,
    id,
    statusCategory: category,
  };
}

function priorityBody({ base }: Wire, priority: number | null): Body | null {
  if (priority === null) return null;
  const id = String(priority);
  return { self: `${base()}/rest/api/3/priority/${id}`, iconUrl: `${base()}/images/${id}.svg`, name: `P${id}`, id };
}

export function userBody({ base }: Wire, displayName: string): Body {
  const accountId = Buffer.from(displayName).toString('hex');
  const self = `${base()}/rest/api/3/user?accountId=${accountId}`;
  return { self, accountId, displayName, active: true, timeZone: 'Etc/UTC', accountType: 'atlassian' };
}

function issueTypeBody({ base }: Wire, name: string): Body {
  return {
    self: `${base()}/rest/api/3/issuetype/10001`,
    id: '10001',
    description: '',
    iconUrl: `${base()}/`,
    name,
    subtask: false,
  };
}

function linkBody(wire: Wire, { type, direction, other }: SiteLink, id: string): Body {
  const issue = wire.site.issues.get(other);
  if (!issue) throw new Error(`the fake has no issue ${other} to link to`);
  return {
    id,
    self: `${wire.base()}/rest/api/3/issueLink/${id}`,
    type: {
      id: '10000',
      name: type,
      inward: 'is blocked by',
      outward: 'blocks',
      self: `${wire.base()}/rest/api/3/issueLinkType/10000`,
    },
    [`${direction}Issue`]: { ...reference(wire, issue), fields: excerpt(wire, issue) },
  };
}

function excerpt(wire: Wire, issue: SiteIssue): Body {
  return {
    summary: issue.summary,
    status: statusBody(wire, issue.status),
    priority: priorityBody(wire, issue.priority),
    issuetype: issueTypeBody(wire, issue.issueType),
  };
}

function reference({ base }: Wire, { id, key }: SiteIssue): Body {
  return { id, self: `${base()}/rest/api/3/issue/${id}`, key };
}
