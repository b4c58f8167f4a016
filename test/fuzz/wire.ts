import { TrackerError } from '../../src/domain/model/errors.ts';
import type { Issue } from '../../src/domain/model/issue.ts';
import type { TrackerSettings } from '../../src/domain/model/settings.ts';
import { loadProviders } from '../../src/providers/registry.ts';
import { settingsWith } from '../support/settings.ts';
import { answerAlways } from './answers.ts';
import { mutateJson, mutateText } from './mutate.ts';
import { oneOrAll, type Target } from './target.ts';

const PROVIDERS = await loadProviders();

const AT = '2026-01-01T00:00:00Z';
const USER = { login: 'ann', username: 'ann', id: 5, displayName: 'Ann', name: 'Ann', accountId: 'x', type: 'User' };
const REST = {
  id: 900,
  iid: 7,
  number: 7,
  title: 'Crash',
  body: 'It stops.',
  description: 'It stops.',
  state: 'open',
  labels: [{ id: 1, name: 'ready' }],
  user: USER,
  author: USER,
  assignees: [USER],
  html_url: 'https://forge.test/7',
  web_url: 'https://forge.test/7',
  issue_type: 'issue',
  created_at: AT,
  updated_at: AT,
  milestone: null,
  repository_url: 'https://forge.test/repos/acme/shop',
  system: false,
  confidential: false,
};
const JIRA = {
  id: '10007',
  key: 'ABC-7',
  fields: {
    summary: 'Crash',
    description: { type: 'doc', version: 1, content: [{ type: 'paragraph', content: [{ type: 'text', text: 'It stops.' }] }] },
    status: { name: 'ready', statusCategory: { key: 'new' } },
    priority: { name: 'High', id: '2' },
    labels: ['bug'],
    assignee: USER,
    issuetype: { name: 'Bug' },
    parent: { id: '1', key: 'ABC-1' },
    created: AT,
    updated: AT,
    issuelinks: [],
    comment: { comments: [], total: 0 },
  },
};
const LINEAR = {
  id: 'u-7',
  identifier: 'ENG-7',
  number: 7,
  title: 'Crash',
  description: 'It stops.',
  priority: 2,
  branchName: 'eng-7',
  url: 'https://linear.test/7',
  state: { id: 's', name: 'ready', type: 'unstarted' },
  labels: { nodes: [{ id: 'l', name: 'bug' }], pageInfo: { hasNextPage: false } },
  assignee: USER,
  parent: { id: 'p', identifier: 'ENG-1' },
  inverseRelations: { nodes: [], pageInfo: { hasNextPage: false } },
  createdAt: AT,
  updatedAt: AT,
  comments: { nodes: [{ id: 'c', body: 'x', createdAt: AT, user: USER }], pageInfo: { hasNextPage: false, endCursor: null } },
  team: { id: 't', key: 'ENG' },
};

/** What a remote of each kind answers to whatever is asked. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  repoissues: [REST],
  nsproject: [{ ...REST, state: 'opened', labels: ['ready'] }],
  selfhosted: [REST],
  wfboard: { issues: [JIRA], isLast: true, comments: [], total: 1, ...JIRA },
  graphql: { data: { issues: { nodes: [LINEAR], pageInfo: { hasNextPage: false, endCursor: null } }, issue: LINEAR } },
};

/** The whole way from an answer of the remote to issues, for every kind that has one. */
export function wireTargets(): readonly Target[] {
  return PROVIDERS.filter(({ kind }) => kind in ANSWERS).map(({ kind, createTracker }) => {
    const tracker = createTracker(settingsFor(kind), DEPS);
    const { signal } = new AbortController();
    const reads: readonly Read[] = [
      () => tracker.fetchCandidateIssues(signal),
      async () => [await tracker.fetchIssueById('7', signal)],
      async () => void (await tracker.fetchIssueStatesByIds(['7'], signal)),
      async () => void (await tracker.fetchIssueComments('7', signal)),
    ];
    return {
      name: `wire of ${kind}`,
      make: (chance) => {
        const answer = ANSWERS[kind];
        const one = Array.isArray(answer) && chance.happens(0.4) ? answer[0] : answer;
        const text = JSON.stringify(mutateJson(one, chance));
        return chance.happens(0.1) ? mutateText(text, chance) : text;
      },
      async take(input, thorough) {
        const restore = await answerAlways(input);
        try {
          for (const read of oneOrAll(reads, input, thorough)) await checked(read);
        } finally {
          restore();
        }
      },
    };
  });
}

type Read = () => Promise<readonly Issue[] | void>;

/** Either issues that hold what their type says, or a TrackerError that does not show the token. */
async function checked(read: Read): Promise<void> {
  try {
    for (const issue of (await read()) ?? []) checkIssue(issue);
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    if (error.message.includes('secret-token-1')) throw new TypeError('a message shows the token', { cause: error });
  }
}

function checkIssue(issue: Issue): void {
  for (const field of ['id', 'identifier', 'title', 'state', 'description', 'url'] as const)
    if (typeof issue[field] !== 'string') throw new TypeError(`${field} is ${typeof issue[field]}`);
  if (!Array.isArray(issue.labels) || issue.labels.some((label) => typeof label !== 'string')) throw new TypeError('labels');
  if (issue.priority !== null && !Number.isFinite(issue.priority)) throw new TypeError('priority');
}

const silent = (): void => {};
export const DEPS = {
  version: 'fuzz',
  workflowDir: '.',
  clock: { now: () => 0 },
  logger: { debug: silent, info: silent, warn: silent, error: silent },
};

function settingsFor(kind: string): TrackerSettings {
  const project = kind === 'wfboard' ? 'ABC' : kind === 'graphql' ? 'ENG' : 'acme/shop';
  const access = { kind, endpoint: 'http://127.0.0.1:9', apiKey: 'ann@x.test:secret-token-1', project };
  return settingsWith({ tracker: { ...access, activeStates: ['ready'], terminalStates: ['done'], handoffState: 'review' } })
    .tracker;
}
