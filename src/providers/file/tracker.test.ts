import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  directory,
  file,
  identifiers,
  issue,
  log,
  open,
  reasons,
  save,
  signal,
  useFolders,
} from '../../../test/support/file-tracker.ts';

useFolders();

describe('a path that is a link', () => {
  it('is followed once: what began there ends there, and nothing new is begun where it leads later', async () => {
    await save([issue(1)]);
    const other = path.join(directory, 'other.json');
    await writeFile(other, JSON.stringify([issue(1, { title: 'Of the other project' })]));
    const link = path.join(directory, 'link.json');
    await symlink(file, link);
    const tracker = open('link.json', { handoffState: 'review' });
    expect(await identifiers(tracker)).toEqual(['ABC-1']);
    await rm(link);
    await symlink(other, link);
    await expect(tracker.fetchCandidateIssues(signal)).rejects.toThrow(`leads to ${other} now`);
    await tracker.transitionIssue('1', 'review', signal);
    await tracker.commentIssue('1', 'done', signal);
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject([{ state: 'review', comments: [{ body: 'done' }] }]);
    expect(JSON.parse(await readFile(other, 'utf8'))).toEqual([issue(1, { title: 'Of the other project' })]);
  });
});
describe('a JSON file', () => {
  it('is mapped field by field', async () => {
    const record = issue(1, {
      description: 'Text',
      priority: 2,
      branch_name: 'b',
      url: 'https://example.org/1',
      labels: ['Bug', ' UI ', 'bug'],
      assignee: 'ann',
      author: 'bob',
      issue_type: 'Task',
      parent: { id: '2', identifier: 'ABC-2' },
      blocked_by: [{ id: '2' }, { identifier: 'ABC-3' }, 'ABC-9', { id: '7', identifier: 'X-7', state: 'Open' }],
      created_at: '2026-01-01T00:00:00Z',
      updated_at: '2026-01-02',
      comments: [
        { id: 5, author: 'ann', body: 'late', created_at: '2026-01-03' },
        { body: 'early', created_at: '2026-01-01' },
      ],
    });
    await save([record, issue(2, { state: 'done' }), issue(3, { id: 33, state: 'doing' })]);
    expect(await open().fetchIssueById('1', signal)).toMatchObject({
      id: '1',
      identifier: 'ABC-1',
      displayIdentifier: null,
      title: 'Issue 1',
      description: 'Text',
      priority: 2,
      state: 'todo',
      branchName: 'b',
      url: 'https://example.org/1',
      labels: ['bug', 'ui'],
      assignee: 'ann',
      issueType: 'Task',
      parent: { id: '2', identifier: 'ABC-2' },
      comments: [
        { id: '2', author: '', body: 'early', createdAt: '2026-01-01' },
        { id: '5', author: 'ann', body: 'late', createdAt: '2026-01-03' },
      ],
      blockedBy: [
        { id: '2', identifier: 'ABC-2', state: 'done' },
        { id: '33', identifier: 'ABC-3', state: 'doing' },
        { id: 'ABC-9', identifier: 'ABC-9', state: '' },
        { id: '7', identifier: 'X-7', state: 'Open' },
      ],
      createdAt: '2026-01-01T00:00:00Z',
      updatedAt: '2026-01-02',
      author: { id: 'bob', names: ['bob'], mayWrite: null },
    });
  });

  it('has the state of a blocker from its own record, whatever is written beside its name', async () => {
    const written = [
      { id: '2', state: 'todo' },
      { identifier: 'ABC-2', state: 'todo' },
      { id: '7', state: 'done' },
    ];
    await save([issue(1, { blocked_by: written }), issue(2, { state: 'done' })]);
    expect((await open().fetchCandidateIssues(signal))[0]?.blockedBy?.map(({ state }) => state)).toEqual([
      'done',
      'done',
      'done',
    ]);
  });

  it('may leave out everything that is not required', async () => {
    await save([issue(1)]);
    expect(await open().fetchIssueById('1', signal)).toMatchObject({
      description: '',
      priority: null,
      branchName: null,
      url: '',
      labels: [],
      assignee: '',
      issueType: '',
      parent: null,
      comments: [],
      blockedBy: [],
      createdAt: '',
      updatedAt: '',
    });
    expect(log.records).toEqual([]);
  });

  it('matches states ignoring case and blanks', async () => {
    await save([issue(1, { state: ' ToDo ' }), issue(2, { state: 'review' })]);
    expect(await identifiers(open())).toEqual(['ABC-1']);
  });

  it.each([
    {
      wrong: 'no title',
      record: { id: '9', identifier: 'X', state: 'todo' },
      why: 'record 2 (line 1, column 67): title: must be',
    },
    { wrong: 'an empty state and id', record: issue(9, { id: ' ', state: '' }), why: 'id, state: must be a non-empty text' },
    { wrong: 'a number that lost digits', record: issue(9, { id: 2 ** 60 }), why: 'id: must be a non-empty text' },
    { wrong: 'a text', record: 'issue', why: 'id, identifier, title, state: must be' },
    { wrong: 'the id of another', record: issue(9, { id: '1' }), why: 'id "1" is taken by an earlier record' },
    { wrong: 'the identifier of another', record: issue(9, { identifier: 'ABC-1' }), why: 'identifier "ABC-1" is taken' },
  ])('loses only a record with $wrong, and says so once', async ({ record, why }) => {
    await save([issue(1), record, issue(3)]);
    const tracker = open();
    expect(await identifiers(tracker)).toEqual(['ABC-1', 'ABC-3']);
    await save([issue(1), record, issue(3, { title: 'changed' })]);
    expect(await identifiers(tracker)).toEqual(['ABC-1', 'ABC-3']);
    expect(log.records.map(({ level, message }) => [level, message])).toEqual([['warn', 'issue record ignored']]);
    expect(reasons()[0]).toContain(why);
  });

  it('does not flood the log when everything is wrong', async () => {
    await save(Array.from({ length: 3000 }, () => ({})));
    expect(await identifiers(open())).toEqual([]);
    expect(log.records).toHaveLength(21);
    expect(log.records.at(-1)).toMatchObject({ message: 'more issue records ignored', attributes: { count: 2980 } });
  });

  it.each([
    { field: 'priority', value: 'high', read: { priority: null } },
    { field: 'priority', value: 1.5, read: { priority: null } },
    { field: 'labels', value: 'bug', read: { labels: [] } },
    { field: 'parent', value: [], read: { parent: null } },
    { field: 'blocked_by', value: 'ABC-2', read: { blockedBy: null } },
    { field: 'comments', value: 'hello', read: { comments: [] } },
  ])('ignores a $field that is $value, and says so', async ({ field, value, read }) => {
    await save([issue(1, { [field]: value })]);
    const tracker = open();
    expect(await tracker.fetchIssueById('1', signal)).toMatchObject(read);
    await tracker.fetchIssueById('1', signal);
    expect(log.records).toHaveLength(1);
    expect(log.records[0]).toMatchObject({ level: 'warn', message: 'issue field ignored' });
    expect(reasons()[0]).toMatch(new RegExp(`^issue ABC-1: ${field}: `));
  });

  it.each([
    { text: '[\n  {"id": "1",\n  }\n]', detail: 'issues.json, line 3, column 3: a key in double quotes is expected here' },
    { text: '', detail: 'issues.json, line 1, column 1: the text ends too early' },
    { text: '\uFEFF\n{}', detail: 'issues.json, line 2, column 1: the file must be a list of issues' },
  ])('that is malformed is an error with its place: $detail', async ({ text, detail }) => {
    await save(text);
    const tracker = open();
    const message = `tracker: tracker_payload_error: READ ${file}: ${detail}`;
    await expect(tracker.fetchCandidateIssues(signal)).rejects.toMatchObject({ kind: 'tracker_payload_error', message });
    await expect(tracker.fetchIssueStatesByIds(['1'], signal)).rejects.toMatchObject({ kind: 'tracker_payload_error' });
    const written = { kind: 'tracker_payload_error', message: message.replace('READ', 'WRITE') };
    await expect(tracker.transitionIssue('1', 'done', signal)).rejects.toMatchObject(written);
    await save([issue(1)]);
    expect(await identifiers(tracker)).toEqual(['ABC-1']);
  });

  it('that is not there may come later', async () => {
    const tracker = open();
    await expect(tracker.fetchIssueById('1', signal)).rejects.toMatchObject({
      kind: 'tracker_transport_error',
      retryable: true,
      message: `tracker: tracker_transport_error: READ ${file}: there is no such file or directory; create it or correct file.path`,
    });
    await save([issue(1)]);
    expect(await identifiers(tracker)).toEqual(['ABC-1']);
  });

  it('tells the state of a record that lacks something else, and does not call it missing', async () => {
    await save([{ id: '1', state: 'todo' }, { id: '2' }]);
    const tracker = open();
    expect(await tracker.fetchIssueStatesByIds(['1', '2', '3'], signal)).toEqual(
      new Map([
        ['1', 'todo'],
        ['2', ''],
      ]),
    );
    await expect(tracker.fetchIssueById('1', signal)).rejects.toMatchObject({ kind: 'tracker_payload_error' });
    await expect(tracker.fetchIssueById('3', signal)).rejects.toMatchObject({ kind: 'tracker_not_found' });
  });
});
describe('5,000 issues', () => {
  const more = { description: 'x'.repeat(400), labels: ['a', 'b'], blocked_by: ['ABC-1'], created_at: '2026-01-01T00:00:00Z' };
  const text = JSON.stringify(Array.from({ length: 5000 }, (_, index) => issue(index, more)));

  it('are read in pieces of a few milliseconds, whoever waits for an answer meanwhile', async () => {
    const tracker = open();
    await save(text);
    // Each look at the clock takes a millisecond.
    let [now, turnedAt, longest] = [0, 0, 0];
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 1));
    let isOver = false;
    onTestFinished(() => void (isOver = true));
    setImmediate(function turn() {
      longest = Math.max(longest, now - turnedAt);
      turnedAt = now;
      if (!isOver) setImmediate(turn);
    });
    expect(await tracker.fetchCandidateIssues(signal)).toHaveLength(5000);
    await nextTurn();
    expect(now).toBeGreaterThan(5000);
    expect(longest).toBeLessThan(20);
  });
});
