import type { Blocker, Issue, IssueComment, Person } from '../../domain/model/issue.ts';
import { normalName } from '../../domain/model/issue.ts';
import { flatten } from './document.ts';
import { chosenName, personOf } from '../shared/person.ts';
import type { WireComment, WireIssue, WirePerson } from './schema.ts';

/** The field-mapping table of the specification. Comments take a request of their own. */
export function toIssue({ id, key, fields }: WireIssue, siteUrl: string): Issue {
  return {
    id,
    identifier: key,
    displayIdentifier: null,
    title: fields.summary ?? '',
    description: flatten(fields.description),
    priority: toPriority(fields.priority?.id),
    state: fields.status?.name ?? '',
    branchName: '',
    url: `${siteUrl}/browse/${key}`,
    labels: fields.labels.map(normalName),
    assignee: fields.assignee?.displayName ?? '',
    issueType: fields.issuetype?.name ?? '',
    parent: fields.parent ? { id: fields.parent.id, identifier: fields.parent.key } : null,
    comments: null,
    blockedBy: toBlockers(fields.issuelinks),
    createdAt: fields.created ?? '',
    updatedAt: fields.updated ?? '',
    ...(fields.creator ? { author: toPerson(fields.creator) } : {}),
  };
}

export function toComment({ id, author, body, created }: WireComment): IssueComment {
  const writer = toPerson(author);
  return { id, author: author?.displayName ?? '', body: flatten(body), createdAt: created ?? '', ...(writer ? { writer } : {}) };
}

function toPerson(wire: WirePerson): Person | null {
  return personOf(wire?.accountId, [chosenName(wire?.displayName), wire?.emailAddress, wire?.accountId]);
}

/** Null unless the whole of it is a number. */
function toPriority(id: string | number | null | undefined): number | null {
  const text = String(id ?? '').trim();
  const value = Number(text);
  return /^[+-]?\d+$/.test(text) && Number.isSafeInteger(value) ? value : null;
}

/** The one link type that blocks. A site that renamed it has no blockers for us. */
const BLOCKING_LINK = 'Blocks';

// The inward end of such a link is the issue that blocks this one; the outward end is one that this issue blocks.
function toBlockers(links: WireIssue['fields']['issuelinks']): readonly Blocker[] {
  return links.flatMap(({ type, inwardIssue }) => {
    if (type?.name !== BLOCKING_LINK || !inwardIssue) return [];
    const { id, key, fields } = inwardIssue;
    const finished = fields?.status?.statusCategory?.key === 'done';
    return [{ id: id ?? '', identifier: key ?? '', state: fields?.status?.name ?? '', ...(finished ? { finished } : {}) }];
  });
}
