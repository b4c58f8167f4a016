import { describe, expect, it } from 'vitest';
import { issueWith } from '../../../test/support/issues.ts';
import { refOf } from '../../domain/model/issue.ts';
import { createKnownSecrets } from '../secrets.ts';
import { createShownIssues, withShownIssue } from './shown-issues.ts';

const secrets = createKnownSecrets();
secrets.add(['s3cret-token']);
const issue = issueWith({ id: '1', title: 'Use s3cret-token', url: 'https://forge/1?key=s3cret-token' });
const plain = issueWith({ id: '2' });

describe('an issue whose text holds a secret', () => {
  it.each(['issue-read', 'candidate-read'] as const)('is kept and shown without it, and read as it is: %s', (type) => {
    const event = withShownIssue({ type, issueId: '1', issue: { ok: true, value: issue } }, secrets);
    const read = event.type === type && event.issue.ok ? event.issue.value : null;
    expect(read).toMatchObject({ title: 'Use s3cret-token' });
    expect(read && refOf(read)).toMatchObject({ id: '1', title: 'Use [redacted]', url: 'https://forge/1?key=[redacted]' });
  });

  it('is one of the candidates without it, poll after poll', async () => {
    const show = createShownIssues(secrets);
    const [first, second] = [await show([plain, issue]), await show([issue, plain])];
    expect(first.map(refOf)).toMatchObject([{ id: '2' }, { id: '1', title: 'Use [redacted]' }]);
    expect(second).toEqual([first[1], first[0]]);
    expect(second[0]).toBe(first[1]);
  });

  it('is hidden as soon as it is known to be one', async () => {
    const growing = createKnownSecrets();
    const show = createShownIssues(growing);
    expect(await show([issue])).toEqual([issue]);
    growing.add(['s3cret-token']);
    expect((await show([issue])).map(refOf)).toMatchObject([{ title: 'Use [redacted]' }]);
  });

  it('is left alone where it holds none', async () => {
    const event = { type: 'issue-read', issueId: '2', issue: { ok: true, value: plain } } as const;
    expect(withShownIssue(event, secrets)).toEqual(event);
    const list = [plain];
    expect(await createShownIssues(secrets)(list)).toBe(list);
  });
});
