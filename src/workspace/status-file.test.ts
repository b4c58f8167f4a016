import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkspaceBench } from '../../test/support/workspaces.ts';
import type { WorkspaceBench } from '../../test/support/workspaces.ts';

let bench: WorkspaceBench;
let workspace: string;

beforeEach(async () => {
  bench = await createWorkspaceBench();
  workspace = path.join(bench.root, 'ABC-1');
  await mkdir(path.join(workspace, '.foray'), { recursive: true });
});
afterEach(() => bench.cleanUp());

const write = (name: string, content: string | Buffer): Promise<void> => writeFile(path.join(workspace, '.foray', name), content);
const reason = (): unknown => bench.log[0]?.attributes['reason'];

describe('.foray/status', () => {
  it('is null and quiet when there is none', async () => {
    expect(await bench.workspaces.readStatus(bench.subject(), workspace)).toBeNull();
    expect(bench.log).toEqual([]);
  });

  it.each(['blocked', 'needs-human-review', 'no-change-needed'] as const)('takes %s', async (word) => {
    await write('status', word);
    expect(await bench.workspaces.readStatus(bench.subject(), workspace)).toEqual({ word, statement: '' });
  });

  it('takes the rest as the statement, without controls and secrets', async () => {
    await write('status', '\uFEFF  blocked \r\n\r\nI \u001b[31mneed\u0007 a\tkey: s3\u0007cret\r\nplease\u0085\n\n');
    expect(await bench.workspaces.readStatus(bench.subject(), workspace)).toEqual({
      word: 'blocked',
      statement: 'I [31mneed a\tkey: ***\nplease',
    });
  });

  it.each(['', 'done', 'Blocked', 'blocked because', '\nblocked', 's3cret'])('ignores "%s" and says why', async (text) => {
    await write('status', text);
    expect(await bench.workspaces.readStatus(bench.subject(), workspace)).toBeNull();
    expect(bench.log[0]).toMatchObject({
      level: 'warn',
      message: 'status file ignored',
      attributes: { issue_id: 'id-1', issue_identifier: 'ABC-1', workspace },
    });
    expect(reason()).toMatch(/the first line must be one of blocked, needs-human-review, no-change-needed, it is ".*"$/);
    expect(reason()).not.toContain('s3cret');
  });

  it('reads 64 KiB at most', async () => {
    await write('status', `blocked\n${'x'.repeat(100_000)}`);
    expect((await bench.workspaces.readStatus(bench.subject(), workspace))?.statement).toHaveLength(65_536 - 'blocked\n'.length);
  });
});

describe('.foray/scm.json', () => {
  const record = {
    branch: 'foray/ABC-1',
    sha: 'a'.repeat(40),
    pushed_at: '2026-01-02T03:04:05Z',
    pr_number: 7,
    owner: 'group/sub',
    repo: 'project',
  };
  const read = {
    branch: 'foray/ABC-1',
    sha: 'a'.repeat(40),
    pushedAt: '2026-01-02T03:04:05Z',
    prNumber: 7,
    owner: 'group/sub',
    repo: 'project',
  };

  it('is null and quiet when there is none', async () => {
    expect(await bench.workspaces.readScm(bench.subject(), workspace)).toBeNull();
    expect(bench.log).toEqual([]);
  });

  it('names the merge request; what else it holds is ignored', async () => {
    await write('scm.json', `\uFEFF${JSON.stringify({ ...record, note: 'x' })}`);
    expect(await bench.workspaces.readScm(bench.subject(), workspace)).toEqual(read);
  });

  it.each([
    {
      left: 'no commit and no time',
      text: { ...record, sha: undefined, pushed_at: undefined },
      found: { sha: '', pushedAt: '' },
    },
    { left: 'a short commit id', text: { ...record, sha: 'abc123' }, found: { sha: 'abc123' } },
    { left: 'a number in quotes', text: { ...record, pr_number: '7' }, found: { prNumber: 7 } },
  ])('names the merge request with $left', async ({ text, found }) => {
    await write('scm.json', JSON.stringify(text));
    expect(await bench.workspaces.readScm(bench.subject(), workspace)).toEqual({ ...read, ...found });
    expect(bench.log).toEqual([]);
  });

  it('takes 4096 bytes and not one more', async () => {
    const text = JSON.stringify(record);
    await write('scm.json', text.padEnd(4096));
    expect(await bench.workspaces.readScm(bench.subject(), workspace)).toEqual(read);
    await write('scm.json', text.padEnd(4097));
    expect(await bench.workspaces.readScm(bench.subject(), workspace)).toBeNull();
    expect(reason()).toBe('workspace: scm.json: it is longer than 4096 bytes');
  });

  it.each([
    { wrong: 'no JSON', text: '{"branch": s3cret', why: 'it is not valid JSON' },
    { wrong: 'a list', text: '[]', why: 'the record: ' },
    { wrong: 'nothing', text: '{}', why: 'branch: ' },
    { wrong: 'what its prototype would say', text: `{"__proto__":${JSON.stringify(record)}}`, why: 'branch: ' },
    { wrong: 'a branch with a line break', text: JSON.stringify({ ...record, branch: 'a\nb' }), why: 'branch: must be text' },
    { wrong: 'number zero', text: JSON.stringify({ ...record, pr_number: 0 }), why: 'pr_number: must be the number' },
    { wrong: 'no number', text: JSON.stringify({ ...record, pr_number: '7a' }), why: 'pr_number: must be the number' },
    { wrong: 'an owner that climbs', text: JSON.stringify({ ...record, owner: '../x' }), why: 'owner: must be a plain path' },
    { wrong: 'an empty repository', text: JSON.stringify({ ...record, repo: '' }), why: 'repo: ' },
  ])('ignores $wrong and says why', async ({ text, why }) => {
    await write('scm.json', text);
    expect(await bench.workspaces.readScm(bench.subject(), workspace)).toBeNull();
    expect(bench.log[0]).toMatchObject({
      level: 'warn',
      message: 'scm file ignored',
      attributes: { issue_id: 'id-1', issue_identifier: 'ABC-1', workspace },
    });
    expect(reason()).toContain(why);
    expect(reason()).not.toContain('s3cret');
  });

  it('refuses a link', async () => {
    const elsewhere = path.join(bench.base, 'scm.json');
    await writeFile(elsewhere, JSON.stringify(record));
    await symlink(elsewhere, path.join(workspace, '.foray', 'scm.json'));
    expect(await bench.workspaces.readScm(bench.subject(), workspace)).toBeNull();
    expect(reason()).toContain('is a symbolic link');
  });
});
