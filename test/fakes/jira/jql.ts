import type { Site, SiteIssue } from './store.ts';

/** A query the remote refuses, in its own words. */
export class JqlFault extends Error {}

export interface Parsed {
  readonly matches: (issue: SiteIssue) => boolean;
  readonly compare: (a: SiteIssue, b: SiteIssue) => number;
}

/** As much of the query language as workflows use: AND, OR, NOT, parentheses, =, !=, IN, NOT IN, IS EMPTY, ORDER BY. */
export function parseJql(site: Site, jql: string): Parsed {
  const tokens = tokenize(jql);
  const parser: Parser = { site, tokens, at: 0 };
  if (tokens.length === 0 || isWord(parser, 'ORDER')) {
    throw new JqlFault('Unbounded JQL queries are not allowed here. Please add a search restriction to your query.');
  }
  const matches = either(parser);
  const compare = ordering(parser);
  if (parser.at < tokens.length) throw new JqlFault(`Error in the JQL Query: expecting the end but got '${peek(parser)?.text}'.`);
  return { matches, compare };
}

interface Token {
  readonly text: string;
  readonly kind: 'word' | 'quoted' | 'sign';
}

interface Parser {
  readonly site: Site;
  readonly tokens: readonly Token[];
  at: number;
}

type Predicate = (issue: SiteIssue) => boolean;

function tokenize(jql: string): readonly Token[] {
  const tokens: Token[] = [];
  const pattern = /\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(!=|[=(),])|([^\s=!(),"'\\]+))/y;
  const text = jql.trimEnd();
  while (pattern.lastIndex < text.length) {
    const from = pattern.lastIndex;
    const found = pattern.exec(text);
    if (!found) throw new JqlFault(`Error in the JQL Query: the character at ${from} is not expected here.`);
    const [, double, single, sign, word] = found;
    const quoted = double ?? single;
    if (quoted !== undefined) tokens.push({ text: quoted.replace(/\\(.)/g, '$1'), kind: 'quoted' });
    else tokens.push(sign === undefined ? { text: word ?? '', kind: 'word' } : { text: sign, kind: 'sign' });
  }
  return tokens;
}

function either(parser: Parser): Predicate {
  const parts = [both(parser)];
  while (skipWord(parser, 'OR')) parts.push(both(parser));
  return (issue) => parts.some((part) => part(issue));
}

function both(parser: Parser): Predicate {
  const parts = [one(parser)];
  while (skipWord(parser, 'AND')) parts.push(one(parser));
  return (issue) => parts.every((part) => part(issue));
}

function one(parser: Parser): Predicate {
  if (skipWord(parser, 'NOT')) {
    const inner = one(parser);
    return (issue) => !inner(issue);
  }
  if (!skipSign(parser, '(')) return clause(parser);
  const inner = either(parser);
  expectSign(parser, ')');
  return inner;
}

function clause(parser: Parser): Predicate {
  const field = next(parser).text.toLowerCase();
  if (skipWord(parser, 'IS')) {
    const negated = skipWord(parser, 'NOT');
    if (!skipWord(parser, 'EMPTY')) throw new JqlFault('Error in the JQL Query: expecting EMPTY.');
    return (issue) => (valuesOf(field, issue).length === 0) !== negated;
  }
  const negated = skipSign(parser, '!=') || (isWord(parser, 'NOT') && skipWord(parser, 'NOT'));
  const operands = skipWord(parser, 'IN')
    ? operandList(parser)
    : [negated || skipSign(parser, '=') ? next(parser) : fault(parser)];
  const wanted = new Set(operands.map((operand) => known(parser.site, field, operand)));
  return (issue) => valuesOf(field, issue).some((value) => wanted.has(value)) !== negated;
}

function operandList(parser: Parser): readonly Token[] {
  expectSign(parser, '(');
  const operands = [next(parser)];
  while (skipSign(parser, ',')) operands.push(next(parser));
  expectSign(parser, ')');
  return operands;
}

/** The remote is strict: a value it does not know fails the whole query. */
function known(site: Site, field: string, { text, kind }: Token): string {
  const value = text.toLowerCase();
  if (kind === 'sign')
    throw new JqlFault(`Error in the JQL Query: Expecting either a value, list or function but got '${text}'.`);
  if (field === 'project' && value !== site.project.toLowerCase()) throw missing(text, field);
  if (field === 'status' && !site.statuses.some((status) => status.toLowerCase() === value)) throw missing(text, field);
  return ['id', 'key', 'issue', 'issuekey'].includes(field) ? knownIssue(site, field, text, kind) : value;
}

// A quoted number is taken for a key.
function knownIssue(site: Site, field: string, text: string, kind: Token['kind']): string {
  if (kind === 'word' && /^\d+$/.test(text)) {
    if (!site.issues.has(text)) throw new JqlFault(`A value with ID '${text}' does not exist for the field '${field}'.`);
    return text;
  }
  if (!/^[a-z][a-z0-9_]*-\d+$/i.test(text)) throw new JqlFault(`The issue key '${text}' for field '${field}' is invalid.`);
  const found = [...site.issues.values()].find(({ key }) => key === text.toUpperCase());
  if (!found) throw new JqlFault(`An issue with key '${text}' does not exist for field '${field}'.`);
  return found.id;
}

function missing(value: string, field: string): JqlFault {
  return new JqlFault(`The value '${value}' does not exist for the field '${field}'.`);
}

function valuesOf(field: string, issue: SiteIssue): readonly string[] {
  const read = FIELDS[field];
  if (!read) throw new JqlFault(`Field '${field}' does not exist or you do not have permission to view it.`);
  return read(issue).map((value) => value.toLowerCase());
}

const FIELDS: Readonly<Record<string, (issue: SiteIssue) => readonly string[]>> = {
  project: ({ key }) => [key.replace(/-\d+$/, '')],
  status: ({ status }) => [status],
  id: ({ id }) => [id],
  key: ({ id }) => [id],
  issue: ({ id }) => [id],
  issuekey: ({ id }) => [id],
  labels: ({ labels }) => labels,
  assignee: ({ assignee }) => (assignee === null ? [] : [assignee]),
  issuetype: ({ issueType }) => [issueType],
  type: ({ issueType }) => [issueType],
};

/** Ascending by priority is the lowest first: that is the vendor's idea of it. */
const SORTS: Readonly<Record<string, (issue: SiteIssue) => number>> = {
  priority: ({ priority }) => -(priority ?? 1000),
  created: ({ created }) => Date.parse(created),
  updated: ({ updated }) => Date.parse(updated),
  key: ({ key }) => Number(key.replace(/^.*-/, '')),
};

function ordering(parser: Parser): Parsed['compare'] {
  if (!skipWord(parser, 'ORDER')) return () => 0;
  if (!skipWord(parser, 'BY')) throw new JqlFault("Error in the JQL Query: expecting 'by'.");
  const sorts: ((a: SiteIssue, b: SiteIssue) => number)[] = [];
  do {
    const field = next(parser).text.toLowerCase();
    const sort = SORTS[field];
    if (!sort) throw new JqlFault(`Not able to sort using field '${field}'.`);
    const sign = skipWord(parser, 'DESC') ? -1 : 1;
    skipWord(parser, 'ASC');
    sorts.push((a, b) => sign * (sort(a) - sort(b)));
  } while (skipSign(parser, ','));
  return (a, b) => sorts.reduce((order, sort) => order || sort(a, b), 0);
}

function peek(parser: Parser): Token | undefined {
  return parser.tokens[parser.at];
}

function next(parser: Parser): Token {
  const token = peek(parser) ?? fault(parser);
  parser.at += 1;
  return token;
}

function fault(parser: Parser): never {
  throw new JqlFault(`Error in the JQL Query: Expecting an operator but got '${peek(parser)?.text ?? 'the end'}'.`);
}

function isWord(parser: Parser, word: string): boolean {
  const token = peek(parser);
  return token?.kind === 'word' && token.text.toUpperCase() === word;
}

function skipWord(parser: Parser, word: string): boolean {
  if (!isWord(parser, word)) return false;
  parser.at += 1;
  return true;
}

function skipSign(parser: Parser, sign: string): boolean {
  const token = peek(parser);
  if (token?.kind !== 'sign' || token.text !== sign) return false;
  parser.at += 1;
  return true;
}

function expectSign(parser: Parser, sign: string): void {
  if (!skipSign(parser, sign)) throw new JqlFault(`Error in the JQL Query: Expecting '${sign}'.`);
}
