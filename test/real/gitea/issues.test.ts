import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Issue } from '../../../src/domain/model/issue.ts';
import { eventually } from '../../support/daemon.ts';
import type { Ground } from './ground.ts';
import { giteaFromEnvironment, must, prepareGround } from './ground.ts';
import { openRepository, openTracker, type Repository } from './repository.ts';

const server = giteaFromEnvironment();
const never = new AbortController().signal;

describe.skipIf(server === null)('document 2: issues of a real server', () => {
  let ground: Ground;
  let repo: Repository;
  const tracker = (changes: object = {}) => openTracker(ground, repo.project, changes).tracker;
  beforeAll(async () => {
    ground = await prepareGround(server!);
    repo = openRepository(ground, await ground.addRepo());
    for (const name of ['todo', 'doing', 'review', 'done']) await repo.addLabel(name);
  });
  afterAll(async () => ground?.cleanup());

  describe('field mapping', () => {
    let rich: { listed: Issue; read: Issue };
    let plain: Issue;
    let blocker = '';
    beforeAll(async () => {
      const labels = await Promise.all(['todo', 'Area/UI'].map((name) => repo.labelId(name)));
      blocker = await repo.addIssue({ title: 'first', labels: [await repo.labelId('doing')] });
      const id = await repo.addIssue({
        title: 'Rich ünïcode',
        body: 'Some *text*',
        labels,
        assignees: [ground.reviewer.login],
        ref: 'main',
      });
      const other = await repo.addIssue({ title: 'Plain', labels: [await repo.labelId('todo')] });
      const dependency = { owner: ground.org, repo: repo.key.repo, index: Number(blocker) };
      await must(ground.call, 'POST', repo.at(`/issues/${id}/dependencies`), dependency);
      await must(ground.call, 'POST', repo.at(`/issues/${id}/comments`), { body: 'a word' }, ground.reviewer.token);
      const listed = await tracker().fetchCandidateIssues(never);
      rich = { listed: listed.find((one) => one.id === id)!, read: await tracker().fetchIssueById(id, never) };
      plain = listed.find((one) => one.id === other)!;
    });

    it.each<[field: string, of: () => unknown, expected: () => unknown]>([
      ['id', () => rich.read.id, () => String(Number(blocker) + 1)],
      ['identifier', () => rich.read.identifier, () => rich.read.id],
      ['title', () => rich.read.title, () => 'Rich ünïcode'],
      ['description', () => [rich.read.description, plain.description], () => ['Some *text*', '']],
      ['priority', () => rich.read.priority, () => null],
      ['state', () => rich.read.state, () => 'todo'],
      ['branch_name', () => [rich.read.branchName, plain.branchName], () => ['main', null]],
      ['url', () => new URL(rich.read.url).pathname, () => `/${repo.project}/issues/${rich.read.id}`],
      ['labels', () => rich.read.labels.toSorted(), () => ['area/ui', 'todo']],
      ['assignee', () => [rich.read.assignee, plain.assignee], () => [ground.reviewer.login, '']],
      ['issue_type', () => rich.read.issueType, () => ''],
      ['parent', () => rich.read.parent, () => null],
      ['comments in a list', () => rich.listed.comments, () => null],
      [
        'comments',
        () => rich.read.comments?.map(({ author, body }) => [author, body]),
        () => [[ground.reviewer.login, 'a word']],
      ],
      ['comment id', () => /^\d+$/.test(rich.read.comments?.[0]?.id ?? ''), () => true],
      ['comment created_at', () => Number.isNaN(Date.parse(rich.read.comments?.[0]?.createdAt ?? '')), () => false],
      ['blocked_by in a list', () => rich.listed.blockedBy, () => null],
      [
        'blocked_by',
        () => rich.read.blockedBy,
        () => [{ id: blocker, identifier: blocker, displayId: `${repo.project}#${blocker}`, state: 'doing' }],
      ],
      ['created_at', () => Number.isNaN(Date.parse(rich.read.createdAt)), () => false],
      ['updated_at', () => Number.isNaN(Date.parse(rich.read.updatedAt)), () => false],
    ])('%s', (_, of, expected) => {
      expect(of()).toEqual(expected());
    });
  });

  describe('the eight operations', () => {
    it('FetchIssueByID and FetchIssueComments of a missing issue are tracker_not_found', async () => {
      for (const id of ['999999', '0', 'abc', '007']) {
        await expect(tracker().fetchIssueById(id, never)).rejects.toMatchObject({ kind: 'tracker_not_found' });
        await expect(tracker().fetchIssueComments(id, never)).rejects.toMatchObject({ kind: 'tracker_not_found' });
      }
    });

    it('FetchIssueStatesByIDs and ByIdentifiers leave out what is not found', async () => {
      const id = await repo.addIssue({ title: 'looked up', labels: [await repo.labelId('doing')] });
      const expected = new Map([[id, 'doing']]);
      expect(await tracker().fetchIssueStatesByIds([id, '999999', 'abc'], never)).toEqual(expected);
      expect(await tracker().fetchIssueStatesByIdentifiers([id, '999999'], never)).toEqual(expected);
    });

    it('FetchIssuesByStates reads both halves, and nothing for no states', async () => {
      const open = await repo.addIssue({ title: 'open', labels: [await repo.labelId('doing')] });
      const closed = await repo.addIssue({ title: 'closed', labels: [await repo.labelId('done')], closed: true });
      const found = (await tracker().fetchIssuesByStates(['doing', 'Done'], never)).map(({ id }) => id);
      expect(found).toEqual(expect.arrayContaining([open, closed]));
      expect(await tracker().fetchIssuesByStates([], never)).toEqual([]);
    });

    it('CommentIssue posts plain text, fences and all, and comments come oldest first, unpaged', async () => {
      const id = await repo.addIssue({ title: 'comments' });
      expect(await tracker().fetchIssueComments(id, never)).toEqual([]);
      const texts = [...Array.from({ length: 55 }, (_, index) => `comment ${String(index)}`), '````\na ``` b\n````'];
      for (const text of texts) await tracker().commentIssue(id, text, never);
      const comments = await tracker().fetchIssueComments(id, never);
      expect(comments.map(({ body }) => body)).toEqual(texts);
      expect(new Set(comments.map(({ author }) => author))).toEqual(new Set([ground.bot.login]));
    });
  });

  describe('the query filter', () => {
    it('narrows candidates and the open half, never the closed half and never a lookup', async () => {
      const [done, doing] = [await repo.labelId('done'), await repo.labelId('doing')];
      const shown = await repo.addIssue({ title: 'needle in the hay', labels: [doing] });
      const hidden = await repo.addIssue({ title: 'hay', labels: [doing] });
      const closed = await repo.addIssue({ title: 'hay, closed', labels: [done], closed: true });
      const narrow = tracker({ queryFilter: 'q=needle' });
      // The server puts words into its index some time after the issue.
      await eventually(
        async () => (await narrow.fetchCandidateIssues(never)).map(({ id }) => id).join(),
        (found) => found === shown,
      );
      const byStates = (await narrow.fetchIssuesByStates(['doing', 'done'], never)).map(({ id }) => id);
      expect(byStates).toEqual(expect.arrayContaining([shown, closed]));
      expect(byStates).not.toContain(hidden);
      expect((await narrow.fetchIssueStatesByIds([hidden], never)).get(hidden)).toBe('doing');
    });

    it.each([
      ['created_by', () => `created_by=${ground.reviewer.login}`],
      ['assigned_by', () => `assigned_by=${ground.reviewer.login}`],
      ['labels', () => 'labels=todo,only-these'],
      ['milestones', () => 'milestones=milestones'],
    ])('takes the key %s', async (key, filter) => {
      const milestone = (await must(ground.call, 'POST', repo.at('/milestones'), { title: key })) as { id: number };
      const labels = [await repo.labelId('todo'), await repo.labelId('only-these')];
      const fields = { title: `by ${key}`, labels, milestone: milestone.id, assignees: [ground.reviewer.login] };
      const made = await must(ground.call, 'POST', repo.at('/issues'), fields, ground.reviewer.token);
      const id = String((made as { number: number }).number);
      const found = (await tracker({ queryFilter: filter() }).fetchCandidateIssues(never)).map((issue) => issue.id);
      expect(found).toContain(id);
      expect(found.length).toBeLessThan((await tracker().fetchCandidateIssues(never)).length);
    });

    it('warns of a label that does not resolve, for which the server drops the whole filter', async () => {
      const { tracker: wide, logged } = openTracker(ground, repo.project, { queryFilter: 'labels=no-such-label' });
      const all = (await tracker().fetchCandidateIssues(never)).length;
      expect(await wide.fetchCandidateIssues(never)).toHaveLength(all);
      expect(logged.filter(({ level }) => level === 'warn').map(({ attributes }) => JSON.stringify(attributes))).toContainEqual(
        expect.stringContaining('no-such-label'),
      );
    });
  });

  describe('lists beyond one page', () => {
    let long: Repository;
    beforeAll(async () => {
      long = openRepository(ground, await ground.addRepo());
      const todo = await long.addLabel('todo');
      for (let count = 1; count <= 58; count += 1) await long.addIssue({ title: `many ${String(count)}`, labels: [todo] });
    });

    it.each([
      ['the name the server knows itself by', (url: URL) => url],
      ['another name than its ROOT_URL', (url: URL) => otherName(url)],
    ])('are read by %s, oldest first', async (_, named) => {
      const endpoint = named(new URL(ground.url)).origin;
      const found = await openTracker(ground, long.project, { endpoint }).tracker.fetchCandidateIssues(never);
      expect(found.map(({ title }) => title)).toEqual(Array.from({ length: 58 }, (__, index) => `many ${String(index + 1)}`));
    });

    it('a page larger than the cap of the server is cut, and the link leads on', async () => {
      const { headers, body } = await ground.call('GET', long.at('/issues?state=open&type=issues&limit=1000'));
      const cap = (body as unknown[]).length;
      expect([cap, headers.get('x-total-count')]).toEqual([50, '58']);
      expect(headers.get('link')).toContain('rel="next"');
    });

    it('a pull request is no issue, in lists as by itself', async () => {
      const number = String(await long.openPull({ branch: 'not-an-issue' }));
      await long.setLabels(number, ['todo']);
      await expect(openTracker(ground, long.project).tracker.fetchIssueById(number, never)).rejects.toMatchObject({
        kind: 'tracker_not_found',
      });
      const found = await openTracker(ground, long.project).tracker.fetchCandidateIssues(never);
      expect(found.map(({ id }) => id)).not.toContain(number);
    });
  });

  describe('blockers', () => {
    it('past the cap of a page are all read', async () => {
      const id = await repo.addIssue({ title: 'blocked' });
      for (let count = 0; count < 52; count += 1) {
        const index = Number(await repo.addIssue({ title: `blocker ${String(count)}` }));
        const body = { owner: ground.org, repo: repo.key.repo, index };
        await must(ground.call, 'POST', repo.at(`/issues/${id}/dependencies`), body);
      }
      expect(await tracker().blockers?.read(id, never)).toHaveLength(52);
    });

    it('of another repository carry its name', async () => {
      const away = openRepository(ground, await ground.addRepo());
      const index = Number(await away.addIssue({ title: 'far away', closed: true }));
      const id = await repo.addIssue({ title: 'blocked from afar' });
      await must(ground.call, 'POST', repo.at(`/issues/${id}/dependencies`), { owner: ground.org, repo: away.key.repo, index });
      const [blocker] = (await tracker().blockers?.read(id, never)) ?? [];
      expect(blocker).toMatchObject({ displayId: `${away.project}#${String(index)}`, state: 'done' });
    });

    it('that are switched off are answered 404 for every issue: none blocks, told once', async () => {
      const off = openRepository(ground, await ground.addRepo());
      const id = await off.addIssue({ title: 'free' });
      const internal_tracker = { enable_issue_dependencies: false, enable_time_tracker: true };
      await must(ground.call, 'PATCH', off.at(''), { has_issues: true, internal_tracker });
      const { tracker: subject, logged } = openTracker(ground, off.project);
      expect(await subject.blockers?.read(id, never)).toEqual([]);
      expect(await subject.blockers?.read(id, never)).toEqual([]);
      expect(logged.map(({ message }) => message)).toEqual([expect.stringContaining('dependencies switched off')]);
    });
  });
});

function otherName(url: URL): URL {
  const other = new URL(url);
  other.hostname = url.hostname === '127.0.0.1' ? 'localhost' : '127.0.0.1';
  return other;
}
