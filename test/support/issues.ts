import type { Issue, IssueRef } from '../../src/domain/model/issue.ts';

/** A plain issue in the first active state of `settingsWith`. */
export function issueWith(parts: Partial<Issue> & { id: string }): Issue {
  return {
    identifier: `T-${parts.id}`,
    displayIdentifier: null,
    title: `Issue ${parts.id}`,
    description: '',
    priority: null,
    state: 'todo',
    branchName: '',
    url: '',
    labels: [],
    assignee: '',
    issueType: '',
    parent: null,
    comments: null,
    blockedBy: [],
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-01T00:00:00Z',
    ...parts,
  };
}

export function refWith(parts: Partial<IssueRef> & { id: string }): IssueRef {
  return { identifier: `T-${parts.id}`, displayIdentifier: null, title: `Issue ${parts.id}`, url: '', state: 'todo', ...parts };
}
