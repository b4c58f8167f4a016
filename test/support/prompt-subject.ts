import type { TemplateSubject } from '../../src/prompt/variables.ts';

/** A subject in which nothing is nil, zero or empty, so that every branch of a template runs. */
export const FULL_SUBJECT: TemplateSubject = {
  issue: {
    id: '10042',
    identifier: 'ABC-7',
    displayIdentifier: 'group/project#7',
    title: 'Crash on empty input',
    description: 'It stops.\nEvery time.',
    priority: 2,
    state: 'In Progress',
    branchName: 'abc-7-crash',
    url: 'https://tracker.example/ABC-7',
    labels: ['bug', 'urgent'],
    assignee: 'kim',
    issueType: 'Bug',
    parent: { id: '10001', identifier: 'ABC-1' },
    comments: [
      { id: 'c1', author: 'ann', body: 'Seen it.', createdAt: '2026-01-02T03:04:05Z' },
      { id: 'c2', author: 'bob', body: 'Me too.', createdAt: '2026-01-03T03:04:05Z' },
    ],
    blockedBy: [{ id: '10002', identifier: 'ABC-2', displayId: 'o/r#2', state: 'Done' }],
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-04T00:00:00Z',
  },
  attempt: 1,
  run: { turnNumber: 2, maxTurns: 20 },
  reaction: {
    ciFailure: {
      status: 'failing',
      checkRuns: [{ name: 'unit', status: 'completed', conclusion: 'failure', detailsUrl: 'https://ci.example/1' }],
      failingCount: 1,
      logExcerpt: 'expected 1, got 2',
      ref: 'abc-7-crash',
    },
    reviewComments: [{ id: 'r1', file: 'src/a.ts', startLine: 3, endLine: 5, reviewer: 'eve', body: 'Name this.' }],
    botReviewComments: [{ id: 'r2', file: 'src/b.ts', startLine: 8, endLine: 8, reviewer: 'lint-bot', body: 'Unused.' }],
    mergeConflict: { prNumber: 12, branch: 'abc-7-crash', headSha: 'deadbeef', base: 'main' },
    labelCommand: {
      command: 'fix',
      prNumber: 12,
      owner: 'group',
      repo: 'project',
      branch: 'abc-7-crash',
      actor: 'ann',
      requestedAt: '2026-01-05T00:00:00Z',
    },
  },
};

/** The same issue on its first attempt: no reaction, and all that may be absent is. */
export const BARE_SUBJECT: TemplateSubject = {
  issue: {
    ...FULL_SUBJECT.issue,
    displayIdentifier: null,
    description: '',
    priority: null,
    branchName: null,
    labels: [],
    assignee: '',
    parent: null,
    comments: null,
    blockedBy: null,
  },
  attempt: 0,
  run: { turnNumber: 1, maxTurns: 20 },
};
