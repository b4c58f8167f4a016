import { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
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

describe('a write', () => {
  it('keeps unknown fields, order, spacing, mode and links, and leaves nothing behind', async () => {
    const text = '[\n  {"id": 1, "identifier": "A",  "mine": {"x": [1]}, "title": "T", "state": "todo"}, {"odd":true}\n]\n';
    const real = path.join(directory, 'real.json');
    await writeFile(real, text);
    await chmod(real, 0o640);
    await symlink(real, file);
    await open().transitionIssue('1', 'done', signal);
    expect(await readFile(file, 'utf8')).toBe(text.replace('"todo"', '"done"'));
    expect((await stat(real)).mode & 0o777).toBe(0o640);
    expect((await readdir(directory)).sort()).toEqual(['issues.json', 'real.json']);
  });

  it('stores a state as the workflow file spells it, and any other as it was asked for', async () => {
    await save([issue(1), issue(2)]);
    const tracker = open('issues.json', { terminalStates: ['Done'], handoffState: 'In Review' });
    await tracker.transitionIssue('1', 'in review', signal);
    await tracker.transitionIssue('2', 'Somewhere', signal);
    expect(await tracker.fetchIssueStatesByIds(['1', '2'], signal)).toEqual(
      new Map([
        ['1', 'In Review'],
        ['2', 'Somewhere'],
      ]),
    );
  });

  it('that changes nothing does not touch the file', async () => {
    await save([issue(1, { labels: ['bug'] })]);
    const before = await stat(file, { bigint: true });
    const tracker = open();
    await tracker.transitionIssue('1', 'TODO', signal);
    await tracker.labels?.add('1', 'Bug', signal);
    await tracker.labels?.remove('1', 'ui', signal);
    expect((await stat(file, { bigint: true })).ino).toBe(before.ino);
  });

  it('sets updated_at where there is one, and signs comments', async () => {
    await save([issue(1, { updated_at: 'x' })]);
    await open().commentIssue('1', 'half a \ud83d', signal);
    const [record] = JSON.parse(await readFile(file, 'utf8')) as [Record<string, unknown>];
    expect(record).toMatchObject({
      updated_at: '2026-02-02T00:00:00.000Z',
      comments: [
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
          author: 'foray',
          body: 'half a \ufffd',
          created_at: '2026-02-02T00:00:00.000Z',
        },
      ],
    });
  });

  it.each(['issues.json', 'issues'])('of many at once to %s is made each by itself, in the order they came', async (place) => {
    const records = Array.from({ length: 30 }, (_, index) => issue(index + 1, index === 4 ? { labels: 'no list' } : {}));
    if (place === 'issues.json') await save(records);
    else await mkdir(path.join(directory, place));
    const lines = (record: object): string[] => Object.entries(record).map(([key, value]) => `${key}: "${String(value)}"`);
    for (const record of place === 'issues' ? records : [])
      await writeFile(path.join(directory, place, `${String(record['id'])}.md`), `---\n${lines(record).join('\n')}\n---\n`);
    const tracker = open(place);
    const stopped = AbortSignal.abort(new Error('stopped'));
    const outcomes = await Promise.allSettled([
      ...records.map(({ id }) => tracker.transitionIssue(String(id), 'done', signal)),
      tracker.transitionIssue('1', 'review', signal),
      tracker.commentIssue('1', 'once', signal),
      tracker.transitionIssue('99', 'done', signal),
      tracker.labels?.add('5', 'bug', signal),
      tracker.transitionIssue('2', 'todo', stopped),
    ]);
    const reasonsOf = outcomes.map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : ''));
    expect(reasonsOf.slice(0, -3).join('')).toBe('');
    expect(reasonsOf.at(-3)).toContain('no issue has the id "99"');
    expect(reasonsOf.at(-2)).toContain('labels is not a list');
    expect(reasonsOf.at(-1)).toContain('stopped');
    const states = await tracker.fetchIssueStatesByIds(
      records.map(({ id }) => String(id)),
      signal,
    );
    expect([...states.values()]).toEqual(['review', ...Array.from({ length: 29 }, () => 'done')]);
    expect((await tracker.fetchIssueComments('1', signal)).map(({ body }) => body)).toEqual(['once']);
  });

  it.each(['issues.json', 'issues'])('to %s hides no edit that somebody makes right after it', async (place) => {
    const target = place === 'issues' ? path.join(directory, place, '1.md') : path.join(directory, place);
    if (place === 'issues') await mkdir(path.join(directory, place));
    const text = (state: string): string =>
      place === 'issues'
        ? `---\nid: "1"\nidentifier: A\ntitle: T\nstate: ${state}\n---\n`
        : JSON.stringify([issue(1, { state })]);
    await writeFile(target, text('todo'));
    const tracker = open(place);
    for (const [ours, theirs] of [
      ['aaaa', 'bbbb'],
      ['cccc', 'dddd'],
      ['eeee', 'ffff'],
    ] as const) {
      await tracker.transitionIssue('1', ours, signal);
      expect((await tracker.fetchIssueStatesByIds(['1'], signal)).get('1')).toBe(ours);
      writeFileSync(target, text(theirs));
      expect((await tracker.fetchIssueById('1', signal)).state).toBe(theirs);
    }
  });

  it.each([
    {
      place: 'issues.json',
      name: '',
      text: '[{"id": "1", "identifier": "A", "title": "\xff", "state": "todo", "x": "\xe9\xc3"}]',
    },
    { place: '.', name: 'a.md', text: '---\nid: 1\nidentifier: A\ntitle: \xff\nstate: todo\n---\n\xe9\xc3 \xf0\x9f\n' },
  ])('to $place keeps bytes that are no UTF-8', async ({ place, name, text }) => {
    const target = path.join(directory, place, name);
    await writeFile(target, text, 'latin1');
    const tracker = open(place);
    await tracker.transitionIssue('1', 'done', signal);
    expect(await readFile(target, 'latin1')).toBe(text.replace('todo', 'done'));
    expect(await tracker.fetchIssueById('1', signal)).toEqual(await open(place).fetchIssueById('1', signal));
  });

  it.each(['issues.json', 'issues'])('that meets half of %s heals soon, and waits for who is done in moments', async (place) => {
    const target = place === 'issues' ? path.join(directory, place, '1.md') : file;
    if (place === 'issues') await mkdir(path.join(directory, place));
    const text = place === 'issues' ? '---\nid: "1"\nidentifier: A\ntitle: T\nstate: todo\n---\n' : JSON.stringify([issue(1)]);
    const half = text.slice(0, 20);
    await writeFile(target, text);
    const tracker = open(place);
    expect(await identifiers(tracker)).toHaveLength(1);
    await writeFile(target, half);
    const healing = { kind: 'tracker_payload_error', retryable: true };
    await expect(tracker.fetchIssueStatesByIds(['1'], signal)).rejects.toMatchObject(healing);
    await expect(tracker.commentIssue('1', 'done', signal)).rejects.toMatchObject(healing);
    // Of a folder, a service that began meanwhile knows no issue.
    await expect(open(place).commentIssue('1', 'done', signal)).rejects.toMatchObject(healing);
    setTimeout(() => writeFileSync(target, text), 60);
    expect(await tracker.fetchIssueStatesByIds(['1'], signal)).toEqual(new Map([['1', 'todo']]));
    await writeFile(target, half);
    setTimeout(() => writeFileSync(target, text), 60);
    await tracker.commentIssue('1', 'done', signal);
    expect(await tracker.fetchIssueComments('1', signal)).toMatchObject([{ body: 'done' }]);
  });

  it.each(['issues.json', '.'])(
    'to %s takes away what a killed service left there an hour ago, and nothing else',
    async (place) => {
      await save([issue(1)]);
      await writeFile(path.join(directory, 'a.md'), '---\nid: 1\nidentifier: A\ntitle: T\nstate: todo\n---\n');
      const old = '.foray-0b6e4b4e-0d5e-4d5c-8f2e-0a6f3f1b2c3d.tmp';
      const others = ['.foray-1b6e4b4e-0d5e-4d5c-8f2e-0a6f3f1b2c3d.tmp', '.foray-mine.tmp', 'notes.tmp'];
      for (const name of [old, ...others]) await writeFile(path.join(directory, name), '');
      const longAgo = Date.now() / 1000 - 3700;
      for (const name of [old, '.foray-mine.tmp', 'notes.tmp']) await utimes(path.join(directory, name), longAgo, longAgo);
      const tracker = open(place);
      await tracker.fetchCandidateIssues(signal);
      expect(await readdir(directory)).toContain(old);
      await tracker.transitionIssue('1', 'done', signal);
      expect((await readdir(directory)).sort()).toEqual([...others, 'a.md', 'issues.json'].sort());
    },
  );

  it('that cannot be made names its file', async () => {
    await writeFile(path.join(directory, 'a.md'), '---\nid: 1\nidentifier: A\ntitle: T\nstate: todo\nlabels: bug\n---\n');
    await expect(open('.').labels?.add('1', 'x', signal)).rejects.toMatchObject({
      message: `tracker: tracker_payload_error: WRITE ${path.join(directory, 'a.md')}: labels is not a list; make it one by hand`,
      retryable: false,
    });
  });

  it('refuses an empty state or label', async () => {
    await save([issue(1)]);
    await expect(open().transitionIssue('1', ' ', signal)).rejects.toThrow('tracker: tracker_payload_error: WRITE');
    await expect(open().labels?.add('1', '', signal)).rejects.toThrow('tracker: tracker_payload_error: WRITE');
  });

  it.skipIf(process.getuid?.() === 0)('that the system refuses is a lack of rights', async () => {
    await save([issue(1)]);
    await chmod(directory, 0o500);
    await expect(open().transitionIssue('1', 'done', signal)).rejects.toMatchObject({ kind: 'tracker_auth_error' });
    await chmod(directory, 0o700);
  });
});
describe('a directory of Markdown files', () => {
  const write = (name: string, matter: string, body = ''): Promise<void> =>
    writeFile(path.join(directory, name), `---\n${matter}\n---\n${body}`);

  it('is read in the order of the names, with the body as description', async () => {
    await write('b.md', 'id: 02\nidentifier: B-2\ntitle: 404\nstate: todo\nlabels: [UI]\npriority: 3', '\n# Hello\n\nWorld\n');
    await write('a.md', 'id: 1\nidentifier: A-1\ntitle: T\nstate: todo\ndescription: from above');
    await write('.hidden.md', 'id: 3');
    await write('note.txt', 'id: 4');
    await mkdir(path.join(directory, 'folder.md'));
    const found = await open('.').fetchCandidateIssues(signal);
    expect(found.map(({ id, title, description, priority }) => [id, title, description, priority])).toEqual([
      ['1', 'T', 'from above', null],
      ['02', '404', '# Hello\n\nWorld', 3],
    ]);
    expect(log.records).toEqual([]);
  });

  it('loses only a malformed file, names its place, and lets nobody take its issue for missing', async () => {
    await write('a.md', 'id: 1\nidentifier: A-1\ntitle: T\nstate: todo');
    await write('b.md', 'id: 2\nlabels: [a');
    await writeFile(path.join(directory, 'README.md'), '# About these issues\n');
    const tracker = open('.');
    expect(await identifiers(tracker)).toEqual(['A-1']);
    expect(await identifiers(tracker)).toEqual(['A-1']);
    expect(reasons()).toEqual([
      expect.stringMatching(/^b\.md, line 4, column 1: /),
      'README.md (no front matter): id, identifier, title, state: must be a non-empty text',
    ]);
    expect(await tracker.fetchIssueStatesByIds(['1'], signal)).toEqual(new Map([['1', 'todo']]));
    const fault = { kind: 'tracker_payload_error', message: expect.stringContaining('b.md, line 4') as string };
    await expect(tracker.fetchIssueStatesByIds(['1', '2'], signal)).rejects.toMatchObject(fault);
    await expect(tracker.fetchIssueById('2', signal)).rejects.toMatchObject(fault);
    expect(await statesAndUnknown()).toEqual([new Map([['1', 'todo']]), new Set(['2'])]);
    await rm(path.join(directory, 'b.md'));
    expect(await tracker.fetchIssueStatesByIds(['1', '2'], signal)).toEqual(new Map([['1', 'todo']]));
    expect(await statesAndUnknown()).toEqual([new Map([['1', 'todo']]), new Set()]);

    async function statesAndUnknown(): Promise<readonly [ReadonlyMap<string, string>, ReadonlySet<string>]> {
      const unknown = new Set<string>();
      return [await tracker.fetchIssueStatesByIds(['1', '2'], signal, undefined, unknown), unknown];
    }
  });

  it('loses only a file that cannot be opened, names it, and lets nobody take its issue for missing', async () => {
    await write('a.md', 'id: 1\nidentifier: A-1\ntitle: T\nstate: todo');
    await write('b.md', 'id: 2\nidentifier: B-2\ntitle: T\nstate: todo');
    const tracker = open('.');
    expect(await identifiers(tracker)).toEqual(['A-1', 'B-2']);
    await rm(path.join(directory, 'b.md'));
    await symlink('b.md', path.join(directory, 'b.md'));
    expect(await identifiers(tracker)).toEqual(['A-1']);
    expect(await identifiers(tracker)).toEqual(['A-1']);
    expect(reasons()).toEqual([expect.stringMatching(/^b\.md: ELOOP/)]);
    const fault = { kind: 'tracker_payload_error', message: expect.stringContaining('b.md: ELOOP') as string };
    await expect(tracker.fetchIssueStatesByIds(['1', '2'], signal)).rejects.toMatchObject(fault);
    await expect(tracker.fetchIssueStatesByIds(['2'], signal)).rejects.toMatchObject(fault);
    await expect(tracker.fetchIssueById('2', signal)).rejects.toMatchObject(fault);
    await rm(path.join(directory, 'b.md'));
    await writeFile(path.join(directory, 'b.md'), '');
    await expect(tracker.fetchIssueById('2', signal)).rejects.toThrow('b.md, line 1');
    await write('b.md', 'id: 2\nidentifier: B-2\ntitle: T\nstate: todo');
    expect(await identifiers(tracker)).toEqual(['A-1', 'B-2']);
  });

  it.skipIf(process.getuid?.() === 0)('that nobody may look into is at fault itself, and not each of its files', async () => {
    await write('a.md', 'id: 1\nidentifier: A-1\ntitle: T\nstate: todo');
    const tracker = open('.');
    await chmod(directory, 0o600);
    onTestFinished(() => chmod(directory, 0o700));
    await expect(tracker.fetchCandidateIssues(signal)).rejects.toMatchObject({ kind: 'tracker_auth_error' });
    expect(log.records).toEqual([]);
  });

  it('has issues beside a socket', async () => {
    await write('a.md', 'id: 1\nidentifier: A-1\ntitle: T\nstate: todo');
    const server = createServer().listen(path.join(directory, 'b.md'));
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    expect(await identifiers(open('.'))).toEqual(['A-1']);
  });

  it('sees files come, change and go', async () => {
    const tracker = open('.');
    await write('a.md', 'id: 1\nidentifier: A-1\ntitle: T\nstate: todo');
    expect(await identifiers(tracker)).toEqual(['A-1']);
    await write('a.md', 'id: 1\nidentifier: A-1\ntitle: T\nstate: done');
    await write('b.md', 'id: 2\nidentifier: B-2\ntitle: T\nstate: todo');
    expect(await identifiers(tracker)).toEqual(['B-2']);
    await rm(path.join(directory, 'b.md'));
    expect(await identifiers(tracker)).toEqual([]);
  });

  it('tells of one issue what its file says now, under whatever name, and of its blockers too', async () => {
    const stateOf = async (id: string): Promise<string | undefined> =>
      (await tracker.fetchIssueStatesByIds([id], signal)).get(id);
    const tracker = open('.');
    await write('a.md', 'id: 1\nidentifier: A-1\ntitle: T\nstate: todo');
    await write('b.md', 'id: 2\nidentifier: B-2\ntitle: T\nstate: todo\nblocked_by: [A-1]');
    expect(await identifiers(tracker)).toEqual(['A-1', 'B-2']);
    await write('a.md', 'id: 1\nidentifier: A-1\ntitle: New\nstate: doing');
    expect(await stateOf('1')).toBe('doing');
    expect((await tracker.fetchIssueById('1', signal)).title).toBe('New');
    expect((await tracker.fetchIssueById('2', signal)).blockedBy).toMatchObject([{ state: 'doing' }]);
    await rename(path.join(directory, 'a.md'), path.join(directory, 'c.md'));
    expect(await stateOf('1')).toBe('doing');
    await rename(path.join(directory, 'c.md'), path.join(directory, 'd.md'));
    await tracker.transitionIssue('1', 'done', signal);
    expect(await readFile(path.join(directory, 'd.md'), 'utf8')).toContain('state: done');
    await write('d.md', 'id: 3\nidentifier: A-3\ntitle: T\nstate: todo');
    expect(await stateOf('1')).toBeUndefined();
    await expect(tracker.transitionIssue('1', 'todo', signal)).rejects.toMatchObject({ kind: 'tracker_not_found' });
    expect(await stateOf('3')).toBe('todo');
  });
});

describe('a folder that was not touched for a while', () => {
  it('is asked for stamps alone, and shows an edit that kept size and time of its file', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 });
    onTestFinished(() => void vi.useRealTimers());
    const file = path.join(directory, 'a.md');
    const text = (state: string): string => `---\nid: 1\nidentifier: A-1\ntitle: T\nstate: ${state}\n---\n`;
    await writeFile(file, text('todo'));
    const tracker = open('.');
    expect(await identifiers(tracker)).toEqual(['A-1']);
    const { atime, mtime } = await stat(file);
    expect(await identifiers(tracker)).toEqual(['A-1']);
    await writeFile(file, text('done'));
    await utimes(file, atime, mtime);
    expect(await identifiers(tracker)).toEqual([]);
  });
});
