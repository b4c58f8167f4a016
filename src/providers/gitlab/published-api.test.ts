import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitlab } from '../../../test/fakes/gitlab.ts';
import { startFakeGitlab } from '../../../test/fakes/gitlab.ts';
import { depsWith, openSubject, trackerSettings } from '../../../test/fakes/gitlab/connect.ts';
import { openScmSubject, REQUEST, scmConnection } from '../../../test/fakes/gitlab/connect-scm.ts';
import { userId } from '../../../test/fakes/gitlab/wire.ts';
import { gitlabContract, unusedRoutes } from '../../../test/fakes/gitlab/contract.ts';
import { createLabel, readBoard } from './board.ts';
import { createRequests } from './requests.ts';

const signal = new AbortController().signal;
const REPO = { owner: REQUEST.owner, repo: REQUEST.repo };

const running: FakeGitlab[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function start(): Promise<FakeGitlab> {
  const fake = await startFakeGitlab({ maxPerPage: 2, labels: ['Backlog', 'done', 'review'], groupLabels: ['team'] });
  running.push(fake);
  return fake;
}

describe('the published description', () => {
  it('knows every request made for issues and merge requests, and every answer they were tried on', async () => {
    const fake = await start();
    await useTracker(fake);
    await useForge(fake);
    const contract = gitlabContract();
    expect(fake.exchanges.length).toBeGreaterThan(60);
    expect(fake.exchanges.flatMap((exchange) => contract.faults(exchange))).toEqual([]);
    expect(unusedRoutes(fake.exchanges)).toEqual([]);
  });

  it.each([
    ['a route', { path: '/api/v4/projects/1/issue' }, ['no such route is described']],
    ['a parameter', { query: new URLSearchParams('stat=opened') }, ['the query parameter stat is not described']],
    ['a word', { query: new URLSearchParams('state=open') }, ['query state: must be equal to one of the allowed values']],
    ['a field that is missing', { responseBody: '[{"id":1}]' }, ["must have required property 'iid'"]],
  ])('can tell %s apart', (_, change, faults) => {
    const exchange = { method: 'GET', path: '/api/v4/projects/1/issues', query: new URLSearchParams(), requestBody: '' };
    const found = gitlabContract().faults({ ...exchange, status: 200, responseBody: '[]', ...change });
    expect(found.join('\n')).toContain(faults[0]);
  });
});

async function useTracker(fake: FakeGitlab): Promise<void> {
  const queryFilter = 'labels=team&not[labels]=wontfix&assignee_username[]=ann&search=Text&confidential=false';
  fake.addIssue({ labels: ['backlog', 'team'], assignees: ['ann'], description: 'Text' });
  for (let count = 0; count < 3; count += 1) fake.addIssue({ labels: ['Backlog'] });
  fake.addIssue({ labels: ['done'], state: 'closed' });
  fake.addNote(1, { author: 'bob' });
  const { tracker } = openSubject(fake, { queryFilter });
  await tracker.preflight?.(signal);
  await tracker.fetchCandidateIssues(signal);
  await tracker.fetchIssueById('1', signal);
  await tracker.fetchIssuesByStates(['done'], signal);
  await tracker.fetchIssueStatesByIds(['1', '2', '99'], signal);
  await tracker.transitionIssue('1', 'done', signal);
  await tracker.transitionIssue('1', 'backlog', signal);
  await tracker.transitionIssue('1', 'human-review', signal);
  await tracker.commentIssue('1', 'Hello', signal);
  await tracker.labels?.add('2', 'needs-human', signal);
  await tracker.labels?.remove('2', 'needs-human', signal);
  await tracker.readLabelling?.('2', 'needs-human', signal);
  await tracker.people?.readSelf(signal);
  fake.merges.member('bob', 30);
  await tracker.people?.mayWrite?.({ id: String(userId('bob')), names: ['bob'], mayWrite: null }, signal);
  await tracker.readRights?.(signal);
  const settings = trackerSettings({ endpoint: fake.url, apiKey: fake.token, project: fake.project.path });
  await readBoard(settings, depsWith().deps, signal);
  await createLabel(settings, depsWith().deps, 'new', signal);
}

async function useForge(fake: FakeGitlab): Promise<void> {
  const { scm, ci } = openScmSubject(fake);
  const { sha } = fake.merges.add({ reviewers: [{ username: 'rita', state: 'requested_changes' }], approvedBy: ['ann'] });
  fake.merges.note(1, { author: 'rita', position: { newLine: 3 } });
  fake.merges.note(1, { author: 'lint-bot' });
  fake.merges.user('lint-bot', { bot: true });
  fake.merges.label(1, { add: ['fix'] });
  fake.merges.pipeline({ status: 'manual', jobs: [{ name: 'test', status: 'failed', trace: 'text' }] }, 1);
  await scm.readMergeStatus(REQUEST, signal);
  await scm.readReviewDecision(REQUEST, 'collaborators', signal);
  await scm.readCiStatus(REQUEST, signal);
  await ci.readCi({ ...REPO, ref: 'feature/1', maxLogLines: 5 }, signal);
  await scm.readPendingReviews(REQUEST, 'anyone', signal);
  await scm.readBotReviewComments(REQUEST, [], signal);
  await scm.readLabelEvents(REQUEST, signal);
  await scm.removeLabel(REQUEST, 'fix', signal);
  await scm.readOwnAccount(signal);
  await scm.readDefaultBranch(REPO, signal);
  await scm.checkMergeScope(REPO, signal);
  fake.merges.trains();
  await scm.enqueue(REQUEST, { strategy: 'squash', expectedSha: sha }, signal);
  await scm.isQueued(REQUEST, signal);
  await scm.merge(REQUEST, { strategy: 'squash', expectedSha: sha }, signal);
  await scm.readBranchHead(REPO, 'feature/1', signal);
  await scm.deleteBranch(REPO, 'feature/1', signal);
  await scm.deleteBranch(REPO, 'feature/1', signal);

  fake.merges.add({ sourceBranch: 'agent/2', state: 'closed' });
  const opener = createRequests(scmConnection({ endpoint: fake.url, apiKey: fake.token }), depsWith().deps);
  expect(await opener.find({ ...REPO, branch: 'agent/2' }, signal)).toBeNull();
  const made = await opener.open({ ...REPO, branch: 'agent/2', base: 'main', title: 'Title', body: 'Text' }, signal);
  expect(await opener.find({ ...REPO, branch: 'agent/2' }, signal)).toEqual(made);
  expect(await opener.endOf({ ...REPO, number: made.number }, signal)).toBeNull();
}
