/** A checked `tracker.query_filter`. */
export interface QueryFilter {
  /** Decoded, in the order written. */
  readonly pairs: readonly (readonly [key: string, value: string])[];
  /** Distinct label names it asks for, to be looked up in the catalogue. */
  readonly labels: readonly string[];
}

/** The adapter's own: a filter that set one would change what a poll means. */
const RESERVED = ['state', 'issue_type', 'order_by', 'sort', 'page', 'per_page', 'pagination', 'with_labels_details'];

/** The remote silently ignores a key it does not know, which would widen the result, so only known keys pass. */
const ALLOWED = [
  'assignee_id',
  'assignee_username',
  'author_id',
  'author_username',
  'confidential',
  'created_after',
  'created_before',
  'due_date',
  'iids',
  'in',
  'labels',
  'milestone',
  'milestone_id',
  'my_reaction_emoji',
  'scope',
  'search',
  'updated_after',
  'updated_before',
];

/** Allowed inside `not[...]`. */
const NEGATABLE = [
  'assignee_id',
  'assignee_username',
  'author_id',
  'author_username',
  'iids',
  'labels',
  'milestone',
  'milestone_id',
];

/** Label names that stand for "no label" and "any label"; the remote takes them in any case. */
const LABEL_WILDCARDS = ['none', 'any'];

interface Pair {
  readonly key: string;
  readonly value: string;
  /** The key without `not[...]` and `[]`. */
  readonly name: string;
  readonly negated: boolean;
  readonly isArray: boolean;
}

/** Reads `key=value&key=value`, or says why it cannot be used. */
export function parseQueryFilter(fragment: string): QueryFilter | { readonly fault: string } {
  const pairs: Pair[] = [];
  for (const part of fragment.trim().split('&')) {
    if (part === '') continue;
    const read = readPair(part);
    const fault = 'fault' in read ? read.fault : faultOf(read, pairs);
    if (fault !== undefined) return { fault };
    if (!('fault' in read)) pairs.push(read);
  }
  return { pairs: pairs.map(({ key, value }) => [key, value] as const), labels: labelsOf(pairs) };
}

function readPair(part: string): Pair | { readonly fault: string } {
  // Some servers take a bare semicolon for a separator, so it must not slip through.
  if (part.includes(';')) return { fault: `"${part}" holds a semicolon, write it as %3B` };
  const mark = part.indexOf('=');
  const key = decoded(mark === -1 ? part : part.slice(0, mark));
  const value = decoded(mark === -1 ? '' : part.slice(mark + 1));
  if (key === undefined || value === undefined)
    return { fault: `"${part}" is not a valid query: its percent-encoding is broken` };
  return { key, value, ...partsOf(key) };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function partsOf(key: string): Pick<Pair, 'name' | 'negated' | 'isArray'> {
  const [, negated, plain, brackets] = /^(?:not\[([^[\]]+)\]|([^[\]]+))(\[\])?$/.exec(key) ?? [];
  return { name: negated ?? plain ?? key, negated: negated !== undefined, isArray: brackets !== undefined };
}

// The first broken rule, in the order of the documented table.
function faultOf(pair: Pair, earlier: readonly Pair[]): string | undefined {
  const { key, value, name, negated, isArray } = pair;
  if (RESERVED.includes(name)) return `"${key}" is reserved, the service sets it itself`;
  if (negated && !NEGATABLE.includes(name)) return `"${key}" cannot be negated; what can: ${NEGATABLE.join(', ')}`;
  if (!negated && !ALLOWED.includes(name)) return `"${key}" is not a known filter; known: ${ALLOWED.join(', ')}`;
  if (value.split(',').some((segment) => segment.trim() === '')) return `"${key}" has an empty value`;
  const same = earlier.find((other) => other.name === name && other.negated === negated);
  if (!same) return undefined;
  if (same.isArray !== isArray) return `"${same.key}" and "${key}" are two spellings of one parameter, use one`;
  return isArray ? undefined : `"${key}" is given twice; for several values write "${key}[]"`;
}

function labelsOf(pairs: readonly Pair[]): readonly string[] {
  const names = pairs
    .filter(({ name }) => name === 'labels')
    .flatMap(({ value, negated }) =>
      value
        .split(',')
        .map((label) => label.trim())
        .filter((label) => negated || !LABEL_WILDCARDS.includes(label.toLowerCase())),
    );
  return [...new Set(names)];
}

/** The adapter's parameters with the filter's in their place: a key the filter names is the filter's alone. */
export function withFilter(own: Readonly<Record<string, string>>, filter: QueryFilter): URLSearchParams {
  const named = new Set(filter.pairs.map(([key]) => key.replace(/\[\]$/, '')));
  const query = new URLSearchParams(Object.entries(own).filter(([key]) => !named.has(key)));
  for (const [key, value] of filter.pairs) query.append(key, value);
  return query;
}
