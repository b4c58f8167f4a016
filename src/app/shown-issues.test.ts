import { describe, expect, it } from 'vitest';
import { issueWith } from '../../test/support/issues.ts';
import { refOf } from '../domain/model/issue.ts';
import { createKnownSecrets } from './secrets.ts';
import { withShownIssues } from './shown-issues.ts';

const secrets = createKnownSecrets();
secrets.add(['s3cret-token']);
const issue = issueWith({ id: '1', title: 'Use s3cret-token', url: 'https://forge/1?key=s3cret-token' });

describe('an issue whose text holds a secret', () => {
  it.each(['issue-read', 'candidate-read'] as const)('is kept and shown without it, and read as it is: %s', (type) => {
    const event = withShownIssues({ type, issueId: '1', issue: { ok: true, value: issue } }, secrets.mask);
    const read = event.type === type && event.issue.ok ? event.issue.value : null;
    expect(read).toMatchObject({ title: 'Use s3cret-token' });
    expect(read && refOf(read)).toMatchObject({ id: '1', title: 'Use [redacted]', url: 'https://forge/1?key=[redacted]' });
  });

  it('is left alone where it holds none', () => {
    const plain = issueWith({ id: '1' });
    const event = withShownIssues({ type: 'issue-read', issueId: '1', issue: { ok: true, value: plain } }, secrets.mask);
    expect(event.type === 'issue-read' && event.issue.ok && event.issue.value).toBe(plain);
  });
});
