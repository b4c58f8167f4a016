import type { Issue } from '../../src/domain/model/issue.ts';
import type { TrackerSettings } from '../../src/domain/model/settings.ts';
import type { Tracker } from '../../src/ports/tracker.ts';
import { loadProviders } from '../../src/providers/registry.ts';
import { settingsWith } from '../support/settings.ts';
import { makeAnswers, ORIGIN, TOKEN } from './answers.ts';
import { mutateJson, mutateText } from './mutate.ts';
import { useRemote, type Use } from './remote.ts';
import type { Target } from './target.ts';

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

const OTHERS = {
  viewer: { id: 'me', name: 'Ann' },
  teams: { nodes: [{ id: 't', key: 'ENG', states: { nodes: [{ id: 's2', name: 'review', type: 'started' }] } }] },
  workflowStates: { nodes: [{ id: 's2', name: 'review', type: 'started' }], pageInfo: { hasNextPage: false } },
  issueLabels: { nodes: [{ id: 'l', name: 'bug' }], pageInfo: { hasNextPage: false } },
  issueUpdate: { success: true },
  commentCreate: { success: true, comment: { id: 'c' } },
};

/** What a remote of each kind answers to whatever is asked. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  repoissues: [REST],
  nsproject: [{ ...REST, state: 'opened', labels: ['ready'] }],
  selfhosted: [REST],
  wfboard: {
    issues: [JIRA],
    isLast: true,
    comments: [{ id: '1', author: USER, body: JIRA.fields.description, created: AT }],
    total: 1,
    transitions: [{ id: '31', name: 'Review', to: { name: 'review' }, isAvailable: true }],
    permissions: { ADD_COMMENTS: { havePermission: true } },
    accountId: 'x',
    ...JIRA,
  },
  graphql: { data: { issues: { nodes: [LINEAR], pageInfo: { hasNextPage: false, endCursor: null } }, issue: LINEAR, ...OTHERS } },
};

/** The whole way from answers of the remote to issues, and what is written to it, for every kind that has one. */
export function wireTargets(): readonly Target[] {
  return PROVIDERS.filter(({ kind }) => kind in ANSWERS).map(({ kind, createTracker }) => ({
    name: `wire of ${kind}`,
    make: (chance) =>
      makeAnswers(chance, () => {
        const answer = ANSWERS[kind];
        const one = Array.isArray(answer) && chance.happens(0.4) ? (answer[0] as unknown) : answer;
        const text = JSON.stringify(mutateJson(one, chance));
        return chance.happens(0.1) ? mutateText(text, chance) : text;
      }),
    take: (input, thorough) =>
      useRemote(input, thorough, ({ deps, signal }) => usesOf(createTracker(settingsFor(kind), deps), signal)),
  }));
}

const PERSON = { id: '5', names: ['ann'], mayWrite: null };

/** Reads first: a kept finding is given to all of them. */
function usesOf(tracker: Tracker, signal: AbortSignal): readonly Use[] {
  const { labels, blockers, people } = tracker;
  return [
    async () => (await tracker.fetchCandidateIssues(signal)).forEach(checkIssue),
    async () => checkIssue(await tracker.fetchIssueById('7', signal)),
    async () => checkStates(await tracker.fetchIssueStatesByIds(['7'], signal, new Set())),
    async () => checkTexts((await tracker.fetchIssueComments('7', signal)).flatMap(({ id, body }) => [id, body])),
    async () => (await tracker.fetchIssuesByStates(['done', 'ready'], signal)).forEach(checkIssue),
    async () => checkStates(await tracker.fetchIssueStatesByIdentifiers(['ABC-7', 'acme/shop#7'], signal)),
    () => tracker.transitionIssue('7', 'review', signal),
    () => tracker.commentIssue('7', 'Done.\n```\ncode\n```', signal),
    async () => labels?.add('7', 'bug', signal),
    async () => labels?.remove('7', 'bug', signal),
    async () => checkTexts((await blockers?.read('7', signal))?.map(({ state }) => state) ?? []),
    async () => checkTexts([(await people?.readSelf(signal)) ?? '']),
    async () => void (await people?.mayWrite?.(PERSON, signal)),
    async () => checkTexts([(await tracker.readLabelling?.('7', 'ready', signal)) ?? '']),
    async () => tracker.preflight?.(signal, { mustAnswer: true }),
    async () => tracker.preflight?.(signal),
    async () => checkTexts([(await tracker.describeProject?.(signal))?.path ?? '']),
    async () => checkTexts((await tracker.readRights?.(signal))?.missing ?? []),
    async () => checkTexts((await tracker.readMoves?.('7', signal)) ?? []),
  ];
}

function checkIssue(issue: Issue): void {
  for (const field of ['id', 'identifier', 'title', 'state', 'description', 'url'] as const)
    if (typeof issue[field] !== 'string') throw new TypeError(`${field} is ${typeof issue[field]}`);
  checkTexts(issue.labels);
  if (issue.priority !== null && !Number.isFinite(issue.priority)) throw new TypeError('priority');
}

function checkStates(states: ReadonlyMap<string, string>): void {
  checkTexts([...states].flat());
}

function checkTexts(texts: readonly string[]): void {
  if (!Array.isArray(texts) || texts.some((text) => typeof text !== 'string')) throw new TypeError(JSON.stringify(texts));
}

function settingsFor(kind: string): TrackerSettings {
  const project = kind === 'wfboard' ? 'ABC' : kind === 'graphql' ? 'ENG' : 'acme/shop';
  const access = { kind, endpoint: ORIGIN, apiKey: kind === 'wfboard' ? `ann@x.test:${TOKEN}` : TOKEN, project };
  return settingsWith({ tracker: { ...access, activeStates: ['ready'], terminalStates: ['done'], handoffState: 'review' } })
    .tracker;
}
