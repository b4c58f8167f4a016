import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ground } from './ground.ts';
import { giteaFromEnvironment, must, prepareGround, TRACKER_SCOPES } from './ground.ts';
import { openRepository, openTracker, type Repository } from './repository.ts';

const server = giteaFromEnvironment();
const never = new AbortController().signal;

describe.skipIf(server === null)('document 2: states, rights and failures of a real server', () => {
  let ground: Ground;
  let repo: Repository;
  const subject = (changes: object = {}) => openTracker(ground, repo.project, changes);
  const tracker = (changes: object = {}) => subject(changes).tracker;
  const stateOf = async (id: string) => (await tracker().fetchIssueStatesByIds([id], never)).get(id);
  const addIssue = async (labels: readonly string[], fields: object = {}) => {
    const ids = await Promise.all(labels.map((name) => repo.labelId(name)));
    return repo.addIssue({ title: `with ${labels.join()}`, labels: ids, ...fields });
  };
  beforeAll(async () => {
    ground = await prepareGround(server!);
    repo = openRepository(ground, await ground.addRepo());
    for (const name of ['todo', 'doing', 'review', 'done']) await repo.addLabel(name);
  });
  afterAll(async () => ground?.cleanup());

  describe('derivation of the state', () => {
    it.each<[labels: readonly string[], closed: boolean, state: string]>([
      [['todo', 'review', 'done'], false, 'done'],
      [['todo', 'review'], false, 'review'],
      [['doing', 'todo'], false, 'todo'],
      [['todo'], true, 'todo'],
      [[], true, 'done'],
      [[], false, ''],
      [['TODO'], false, 'todo'],
    ])('labels %j, closed %s: %s', async (labels, closed, state) => {
      expect(await stateOf(await addIssue(labels, { closed }))).toBe(state);
    });

    it('several state labels on an open issue are a warning, and issues without one are counted', async () => {
      const { tracker: watched, logged } = subject();
      await watched.fetchCandidateIssues(never);
      const told = (message: RegExp) => logged.filter((entry) => message.test(entry.message));
      expect(told(/several state labels/).length).toBeGreaterThan(0);
      expect(told(/without a state label/)).toHaveLength(1);
      await watched.fetchCandidateIssues(never);
      expect(told(/without a state label/)).toHaveLength(1);
    });

    it('a configured active label that is nowhere is a warning of the first poll; one of the organisation is known', async () => {
      await must(ground.call, 'POST', `/orgs/${ground.org}/labels`, { name: 'from-org', color: '#123456' });
      const apiKey = await ground.bot.tokenWith([...TRACKER_SCOPES, 'read:organization']);
      const { tracker: watched, logged } = subject({ apiKey, activeStates: ['todo', 'from-org', 'nowhere'] });
      await watched.fetchCandidateIssues(never);
      await watched.fetchCandidateIssues(never);
      const warned = logged.filter(({ level, message }) => level === 'warn' && !message.includes('several'));
      expect(warned.map(({ attributes }) => JSON.stringify(attributes))).toEqual([expect.stringContaining('nowhere')]);
    });
  });

  describe('transitions', () => {
    it.each<[from: string, to: string, native: string]>([
      ['todo', 'doing', 'open'],
      ['doing', 'review', 'open'],
      ['review', 'done', 'closed'],
      ['done', 'doing', 'open'],
      ['todo', 'WONTFIX', 'closed'],
    ])('%s to %s leaves the issue %s, and may be repeated', async (from, to, native) => {
      const id = await addIssue([from, 'unrelated'], { closed: from === 'done' });
      await tracker().transitionIssue(id, to, never);
      await tracker().transitionIssue(id, to, never);
      expect(await stateOf(id)).toBe(to.toLowerCase());
      expect((await repo.issue(id)).state).toBe(native);
      expect(await repo.labelsOf(id)).toEqual([to.toLowerCase(), 'unrelated'].toSorted());
    });

    it('a missing label is made first, with the fixed colour', async () => {
      const id = await addIssue(['todo']);
      await tracker({ handoffState: 'made-anew' }).transitionIssue(id, 'made-anew', never);
      const labels = (await must(ground.call, 'GET', repo.at(`/issues/${id}/labels`))) as { name: string; color: string }[];
      expect(labels.map(({ name, color }) => [name, color])).toEqual([['made-anew', 'cccccc']]);
    });

    it('every spelling of the other states goes, those of the organisation too', async () => {
      const { id: ofOrg } = (await must(ground.call, 'POST', `/orgs/${ground.org}/labels`, {
        name: 'Todo',
        color: '#123456',
      })) as { id: number };
      const id = await addIssue(['todo', 'DOING']);
      await must(ground.call, 'POST', repo.at(`/issues/${id}/labels`), { labels: [ofOrg] });
      await tracker().transitionIssue(id, 'review', never);
      expect(await repo.labelsOf(id)).toEqual(['review']);
    });

    it('what is no configured state, and the handoff of a closed issue, are refused before any write', async () => {
      const [open, closed] = [await addIssue(['todo']), await addIssue(['done'], { closed: true })];
      const refused = { kind: 'tracker_payload_error' };
      await expect(tracker().transitionIssue(open, 'elsewhere', never)).rejects.toMatchObject(refused);
      await expect(tracker().transitionIssue(closed, 'review', never)).rejects.toMatchObject(refused);
      expect([await repo.labelsOf(open), await repo.labelsOf(closed)]).toEqual([['todo'], ['done']]);
    });
  });

  describe('label writes', () => {
    it('past the first page a label is found and none is made twice', async () => {
      const many = openRepository(ground, await ground.addRepo());
      for (let count = 1; count <= 55; count += 1) await many.addLabel(`l${String(count)}`);
      await many.addLabel('zz-stuck');
      const id = await many.addIssue({ title: 'labels' });
      const { labels } = openTracker(ground, many.project).tracker;
      await labels?.add(id, 'ZZ-Stuck', never);
      const { headers } = await ground.call('GET', many.at('/labels?limit=1'));
      expect([headers.get('x-total-count'), headers.get('link')]).toEqual(['56', null]);
      expect(await many.labelsOf(id)).toEqual(['zz-stuck']);
    });

    it('an add makes what is missing, a removal takes every spelling, and both may be repeated', async () => {
      const id = await addIssue(['todo', 'Stuck', 'STUCK']);
      const { labels } = tracker();
      for (const name of ['needs-human', 'needs-human']) await labels?.add(id, name, never);
      for (const name of ['stuck', 'stuck']) await labels?.remove(id, name, never);
      expect(await repo.labelsOf(id)).toEqual(['needs-human', 'todo']);
    });

    it('the server itself takes an unknown name without a word, which is why ids are used', async () => {
      const id = await addIssue(['todo']);
      const answer = await ground.call('POST', repo.at(`/issues/${id}/labels`), { labels: ['no-such-label'] });
      expect(answer.status).toBe(200);
      expect(await repo.labelsOf(id)).toEqual(['todo']);
    });
  });

  describe('rights of a minimal token', () => {
    it('the three scopes are enough for preflight, polls, moves, comments and labels', async () => {
      const apiKey = await ground.bot.tokenWith(TRACKER_SCOPES);
      const { tracker: least, logged } = subject({ apiKey });
      const id = await addIssue(['todo']);
      await least.preflight?.(never);
      expect((await least.fetchCandidateIssues(never)).map((issue) => issue.id)).toContain(id);
      await least.fetchIssueById(id, never);
      await least.transitionIssue(id, 'doing', never);
      await least.commentIssue(id, 'hello', never);
      await least.labels?.add(id, 'escalated', never);
      await least.labels?.remove(id, 'escalated', never);
      expect(await repo.labelsOf(id)).toEqual(['doing']);
      expect(logged.filter(({ level }) => level === 'error')).toEqual([]);
    });

    it.each<[scopes: readonly string[], fails: 'preflight' | 'poll' | 'write']>([
      [['write:issue', 'read:repository'], 'preflight'],
      [['write:issue', 'read:user'], 'preflight'],
      [['read:user', 'read:repository'], 'poll'],
      [['read:issue', 'read:user', 'read:repository'], 'write'],
    ])('with %j the %s is refused as tracker_auth_error', async (scopes, fails) => {
      const least = tracker({ apiKey: await ground.bot.tokenWith(scopes) });
      const id = await addIssue(['todo']);
      const steps = {
        preflight: () => least.preflight?.(never),
        poll: () => least.fetchCandidateIssues(never),
        write: () => least.transitionIssue(id, 'doing', never),
      };
      await expect(steps[fails]()).rejects.toMatchObject({ kind: 'tracker_auth_error', status: 403 });
      for (const before of Object.keys(steps).slice(0, Object.keys(steps).indexOf(fails))) {
        await steps[before as keyof typeof steps]();
      }
    });
  });

  describe('errors', () => {
    it.each([
      ['a wrong token', { apiKey: '0'.repeat(40) }, 'tracker_auth_error', 401],
      ['a repository that is not there', { project: 'nobody/nothing' }, 'tracker_not_found', 404],
    ])('preflight refuses %s', async (_, changes, kind, status) => {
      await expect(tracker(changes).preflight?.(never)).rejects.toMatchObject({ kind, status });
    });

    it('an endpoint that is no API is refused with what to look at', async () => {
      await expect(tracker({ endpoint: `${ground.url}/nowhere` }).preflight?.(never)).rejects.toThrow(/tracker\.endpoint/);
    });

    it('an archived repository: preflight warns, and a write is answered 423', async () => {
      const old = openRepository(ground, await ground.addRepo());
      const id = await old.addIssue({ title: 'too late' });
      await must(ground.call, 'PATCH', old.at(''), { archived: true });
      const { tracker: late, logged } = openTracker(ground, old.project);
      await late.preflight?.(never);
      expect(logged.map(({ message }) => message)).toContainEqual(expect.stringContaining('archived'));
      await expect(late.commentIssue(id, 'hello', never)).rejects.toMatchObject({ kind: 'tracker_api_error', status: 423 });
    });

    it('a server that is away is tracker_transport_error', async () => {
      const { endpoint } = { endpoint: 'http://127.0.0.1:9' };
      await expect(tracker({ endpoint }).fetchCandidateIssues(never)).rejects.toMatchObject({ kind: 'tracker_transport_error' });
    });

    it('no message shows the token', async () => {
      const apiKey = 'f'.repeat(40);
      const failure: unknown = await tracker({ apiKey })
        .fetchCandidateIssues(never)
        .catch((error: unknown) => error);
      expect(String(failure)).not.toContain(apiKey);
    });
  });
});
