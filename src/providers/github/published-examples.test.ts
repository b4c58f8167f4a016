import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { githubDescription } from '../../../test/fakes/github/contract.ts';
import { exampleAnswers } from '../../../test/support/openapi.ts';
import { toComment, toIssue } from './map.ts';
import { ACCOUNT_LOGIN, COMMENT, ISSUE, REPOSITORY_FACTS, SEARCH_PAGE } from './schema.ts';
import {
  CHECK_RUN_PAGE,
  JOB,
  LABEL_EVENT,
  MERGE,
  PULL,
  REPOSITORY,
  REVIEW,
  REVIEW_COMMENT,
  STATUS_PAGE,
  WORKFLOW_RUN_PAGE,
} from './scm-schema.ts';

const description = githubDescription();
const ISSUES = '/repos/{owner}/{repo}/issues';
const PULLS = '/repos/{owner}/{repo}/pulls/{pull_number}';

/** What each published answer must become; the test fails where nothing is published any more. */
const ROUTES: readonly (readonly [route: string, schema: z.ZodType])[] = [
  ['/user', ACCOUNT_LOGIN],
  ['/repos/{owner}/{repo}', REPOSITORY],
  ['/repos/{owner}/{repo}', REPOSITORY_FACTS],
  [ISSUES, z.array(ISSUE)],
  [`${ISSUES}/{issue_number}`, ISSUE],
  [`${ISSUES}/{issue_number}/parent`, ISSUE],
  [`${ISSUES}/{issue_number}/dependencies/blocked_by`, z.array(ISSUE)],
  [`${ISSUES}/{issue_number}/comments`, z.array(COMMENT)],
  [`${ISSUES}/{issue_number}/events`, z.array(LABEL_EVENT)],
  ['/search/issues', SEARCH_PAGE],
  [PULLS, PULL],
  [`${PULLS}/reviews`, z.array(REVIEW)],
  [`${PULLS}/comments`, z.array(REVIEW_COMMENT)],
  ['/repos/{owner}/{repo}/commits/{ref}/check-runs', CHECK_RUN_PAGE],
  ['/repos/{owner}/{repo}/commits/{ref}/status', STATUS_PAGE],
  ['/repos/{owner}/{repo}/actions/runs', WORKFLOW_RUN_PAGE],
  ['/repos/{owner}/{repo}/actions/jobs/{job_id}', JOB],
];

describe('every answer that the vendor publishes as an example is read', () => {
  it.each(ROUTES)('GET %s', (route, schema) => {
    const examples = exampleAnswers(description, 'GET', route);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(schema.safeParse(example).error).toBeUndefined();
  });

  it('PUT of a merge', () => {
    const [example] = exampleAnswers(description, 'PUT', `${PULLS}/merge`);
    expect(MERGE.parse(example)).toMatchObject({ merged: true });
  });

  it('and becomes an issue, and its comments', () => {
    const states = { active: ['bug'], terminal: ['done'], parking: [] };
    const [example] = exampleAnswers(description, 'GET', `${ISSUES}/{issue_number}`);
    const issue = toIssue(ISSUE.parse(example), { repository: { owner: 'octocat', repo: 'Hello-World' }, states });
    expect(issue).toMatchObject({ id: '1347', identifier: '1347', title: 'Found a bug', state: 'bug', labels: ['bug'] });
    expect(issue).toMatchObject({ assignee: 'octocat', url: 'https://github.com/octocat/Hello-World/issues/1347' });
    const [comments] = exampleAnswers(description, 'GET', `${ISSUES}/{issue_number}/comments`);
    expect(z.array(COMMENT).parse(comments).map(toComment)).toMatchObject([
      { id: '1', author: 'octocat', body: 'Me too', createdAt: '2011-04-14T16:00:49Z' },
    ]);
  });
});
