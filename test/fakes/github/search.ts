import type { FakeIssue, FakeRepo, Store } from './store.ts';

export interface Found {
  readonly repo: FakeRepo;
  readonly issue: FakeIssue;
}

/** The issues a search query means, or undefined when it names a repository that is not there. AND binds tighter than OR. */
export function searchIssues(store: Store, query: string): readonly Found[] | undefined {
  const groups = parse(query);
  const named = groups.flat().filter(({ key }) => key === 'repo');
  if (named.some(({ value }) => !store.repo(value))) return undefined;
  const all = store.repos().flatMap((repo) => [...repo.issues.values()].map((issue) => ({ repo, issue })));
  const visible = all.filter(({ issue }) => !issue.deleted && !issue.movedTo);
  return visible.filter((found) => groups.some((terms) => terms.every((term) => holds(term, found) !== term.negated)));
}

interface Term {
  readonly key: string;
  readonly value: string;
  readonly negated: boolean;
}

const TERM = /(-?)(?:([a-z]+):)?("(?:[^"\\]|\\.)*"|\S+)/gi;

function parse(query: string): Term[][] {
  const groups: Term[][] = [[]];
  for (const [, minus, key = '', raw = ''] of query.matchAll(TERM)) {
    const value = raw.startsWith('"') ? raw.slice(1, -1).replace(/\\(.)/g, '$1') : raw;
    if (key === '' && raw === 'OR') groups.push([]);
    else groups.at(-1)?.push({ key: key.toLowerCase(), value: value.toLowerCase(), negated: minus === '-' });
  }
  return groups;
}

function holds({ key, value }: Term, { repo, issue }: Found): boolean {
  const labels = issue.labels.map((label) => label.toLowerCase());
  const kind = issue.pullRequest ? 'pr' : 'issue';
  const tests: Readonly<Record<string, () => boolean>> = {
    repo: () => `${repo.owner}/${repo.name}`.toLowerCase() === value,
    type: () => kind === value,
    is: () => kind === value || issue.state === value,
    state: () => issue.state === value,
    label: () => value.split(',').some((one) => labels.includes(one)),
    author: () => issue.author.toLowerCase() === value,
    assignee: () => issue.assignees.some((login) => login.toLowerCase() === value),
    no: () => (value === 'label' ? labels.length === 0 : issue.assignees.length === 0),
    '': () => `${issue.title} ${issue.body ?? ''}`.toLowerCase().includes(value),
  };
  return tests[key]?.() ?? false;
}
