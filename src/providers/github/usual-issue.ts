import type { WireIssue } from './schema.ts';

/**
 * An issue whose fields are all as the remote describes them, read as the schema reads it; undefined for any other, which
 * the schema then judges.
 */
export function usualIssue(entry: unknown): WireIssue | undefined {
  if (!isRecord(entry)) return undefined;
  const { number, title, body, state, html_url, created_at, updated_at, repository_url, author_association } = entry;
  if (!Number.isSafeInteger(number) || (number as number) <= 0) return undefined;
  if (!isText(title) || !isText(body) || !isText(state) || !isText(html_url)) return undefined;
  if (!isText(created_at) || !isText(updated_at) || !isText(repository_url) || !isText(author_association)) return undefined;
  const { assignees, user, type, issue_dependencies_summary: summary } = entry;
  if (!arePeople(assignees) || !isNamed(user, 'login') || !isNamed(type, 'name') || !isSummary(summary)) return undefined;
  const labels = namesOf(entry['labels']);
  if (labels === undefined) return undefined;
  return {
    number: number as number,
    title: title ?? '',
    body: body ?? '',
    state: state ?? '',
    html_url: html_url ?? '',
    labels,
    assignees: assignees && assignees.map(({ login }) => ({ login })),
    user: user && { login: user['login'] },
    author_association: author_association ?? '',
    type: type && { name: type['name'] },
    created_at: created_at ?? '',
    updated_at: updated_at ?? '',
    repository_url: repository_url ?? '',
    pull_request: entry['pull_request'],
    issue_dependencies_summary: summary && { total_blocked_by: summary['total_blocked_by'] },
  };
}

type Text = string | null | undefined;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is Text {
  return typeof value === 'string' || value === undefined || value === null;
}

/** Nothing, or a record whose one field that counts is a text. */
function isNamed<K extends string>(value: unknown, field: K): value is Readonly<Record<K, Text>> | null | undefined {
  return value === undefined || value === null || (isRecord(value) && isText(value[field]));
}

function arePeople(value: unknown): value is readonly { readonly login: Text }[] | null | undefined {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) && value.every((person) => isRecord(person) && isText(person['login']));
}

function isSummary(value: unknown): value is Readonly<Record<'total_blocked_by', number | null | undefined>> | null | undefined {
  if (value === undefined || value === null) return true;
  if (!isRecord(value)) return false;
  const { total_blocked_by: total } = value;
  return total === undefined || total === null || Number.isFinite(total);
}

/** The names of labels, which are records or bare names. */
function namesOf(value: unknown): string[] | undefined {
  const names: string[] = [];
  if (value === undefined || value === null) return names;
  if (!Array.isArray(value)) return undefined;
  for (const label of value as readonly unknown[]) {
    const name = isRecord(label) ? label['name'] : (label ?? false);
    if (!isText(name)) return undefined;
    if (name) names.push(name);
  }
  return names;
}
