import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProviderDeps } from '../../src/ports/provider.ts';
import type { LogAttributes } from '../../src/ports/runtime.ts';
import { provider } from '../../src/providers/gitea/index.ts';
import { createPlayground, eventually } from '../support/daemon.ts';
import { settingsWith } from '../support/settings.ts';
import { type Ground, giteaFromEnvironment, must, prepareGround } from './gitea-server.ts';

const server = giteaFromEnvironment();
const never = new AbortController().signal;

describe.skipIf(server === null)('a real Gitea or Forgejo', () => {
  let ground: Ground;
  const warnings: { message: string; attributes: LogAttributes }[] = [];
  const quiet = (): void => undefined;
  const warn = (message: string, attributes: LogAttributes = {}): void => void warnings.push({ message, attributes });
  const deps: ProviderDeps = {
    version: '0.0.0',
    workflowDir: '/',
    clock: { now: Date.now },
    logger: { debug: quiet, info: quiet, warn, error: quiet },
  };

  const trackerAt = (endpoint: string, changes: object = {}) => {
    const states = { activeStates: ['todo', 'doing'], terminalStates: ['done'], handoffState: 'review' };
    const connection = { kind: 'selfhosted', project: ground.project, apiKey: ground.bot.token, endpoint };
    return provider.createTracker(settingsWith({ tracker: { ...connection, ...states, ...changes } }).tracker, deps);
  };
  const tracker = () => trackerAt(ground.url);
  const repo = (route: string) => `/repos/${ground.project}${route}`;
  const addLabel = async (name: string) =>
    (await must(ground.call, 'POST', repo('/labels'), { name, color: '#123456' })) as { id: number };
  const addIssue = async (title: string, labels: readonly number[] = []) =>
    String(((await must(ground.call, 'POST', repo('/issues'), { title, labels })) as { number: number }).number);
  const labelsOf = async (id: string) =>
    ((await must(ground.call, 'GET', repo(`/issues/${id}/labels`))) as { name: string }[]).map(({ name }) => name).toSorted();

  beforeAll(async () => {
    ground = await prepareGround(server!);
    console.log(`server version ${ground.version}`);
  });
  afterAll(async () => ground?.cleanup());

  describe('document 2: the tracker', () => {
    it('preflight passes with a token of the least scopes', async () => {
      await tracker().preflight?.(never);
    });

    it.each([
      ['a wrong token', { apiKey: '0'.repeat(40) }, 'tracker_auth_error'],
      ['a repository that is not there', { project: 'nobody/nothing' }, 'tracker_not_found'],
    ])('preflight refuses %s', async (_, changes, kind) => {
      await expect(trackerAt(ground.url, changes).preflight?.(never)).rejects.toMatchObject({ kind });
    });

    it('labels past the first page are found and none is made twice', async () => {
      for (let count = 1; count <= 55; count += 1) await addLabel(`l${String(count)}`);
      await addLabel('zz-stuck');
      const id = await addIssue('labels');
      await tracker().labels?.add(id, 'zz-stuck', never);
      const { headers } = await ground.call('GET', repo('/labels?limit=1'));
      expect(headers.get('x-total-count')).toBe('56');
      expect(await labelsOf(id)).toEqual(['zz-stuck']);
      await tracker().labels?.remove(id, 'ZZ-Stuck', never);
      expect(await labelsOf(id)).toEqual([]);
    });

    it('an issue moves along its life, and each move may be repeated', async () => {
      const id = await addIssue('life', [(await addLabel('todo')).id]);
      const states = async () => (await tracker().fetchIssueStatesByIds([id], never)).get(id);
      expect(await states()).toBe('todo');
      for (const state of ['doing', 'review', 'todo', 'done', 'doing', 'done']) {
        await tracker().transitionIssue(id, state, never);
        await tracker().transitionIssue(id, state, never);
        expect(await states()).toBe(state);
        expect(await labelsOf(id)).toEqual([state]);
      }
      await expect(tracker().transitionIssue(id, 'review', never)).rejects.toMatchObject({ kind: 'tracker_payload_error' });
      await expect(tracker().transitionIssue(id, 'elsewhere', never)).rejects.toMatchObject({ kind: 'tracker_payload_error' });
    });

    it('comments come back oldest first', async () => {
      const id = await addIssue('comments');
      for (const text of ['one', 'two', '```\nthree\n```']) await tracker().commentIssue(id, text, never);
      const comments = await tracker().fetchIssueComments(id, never);
      expect(comments.map(({ body, author }) => [body, author])).toEqual(
        ['one', 'two', '```\nthree\n```'].map((body) => [body, ground.bot.login]),
      );
    });

    it('blockers past the cap of a page are read, and none where they are switched off', async () => {
      const id = await addIssue('blocked');
      const blockers: string[] = [];
      for (let count = 0; count < 52; count += 1) blockers.push(await addIssue(`blocker ${String(count)}`));
      for (const index of blockers) {
        const body = { owner: ground.org, repo: ground.repo, index: Number(index) };
        await must(ground.call, 'POST', repo(`/issues/${id}/dependencies`), body);
      }
      expect(await tracker().blockers?.read(id, never)).toHaveLength(52);
      const set = (enable_issue_dependencies: boolean) =>
        must(ground.call, 'PATCH', repo(''), {
          has_issues: true,
          internal_tracker: { enable_issue_dependencies, enable_time_tracker: true },
        });
      await set(false);
      expect(await tracker().blockers?.read(id, never)).toEqual([]);
      expect(warnings.map(({ message }) => message)).toContainEqual(expect.stringContaining('dependencies switched off'));
      await set(true);
    });

    it('long lists are read by the links of a server that is reached by another name', async () => {
      const other = new URL(ground.url);
      other.hostname = other.hostname === '127.0.0.1' ? 'localhost' : '127.0.0.1';
      const reachable = await fetch(`${other.origin}/api/v1/version`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (!reachable) return;
      const todo = await labelId('todo');
      for (let count = 0; count < 52; count += 1) await addIssue(`many ${String(count)}`, [todo]);
      const found = await trackerAt(other.origin).fetchCandidateIssues(never);
      expect(found.filter(({ title }) => title.startsWith('many'))).toHaveLength(52);
    });

    it('a pull request is no issue', async () => {
      const number = await openPull('not-an-issue');
      await expect(tracker().fetchIssueById(String(number), never)).rejects.toMatchObject({ kind: 'tracker_not_found' });
      const listed = await tracker().fetchIssuesByStates(['todo', 'done'], never);
      expect(listed.map(({ id }) => id)).not.toContain(String(number));
    });
  });

  const labelId = async (name: string): Promise<number> => {
    for (let page = 1; ; page += 1) {
      const labels = (await must(ground.call, 'GET', repo(`/labels?limit=50&page=${String(page)}`))) as {
        id: number;
        name: string;
      }[];
      const found = labels.find((label) => label.name === name);
      if (found) return found.id;
      if (labels.length === 0) throw new Error(`no label ${name}`);
    }
  };

  const openPull = async (branch: string): Promise<number> => {
    const content = Buffer.from(`text of ${branch}\n`).toString('base64');
    await must(ground.call, 'POST', repo(`/contents/${branch}.txt`), {
      content,
      message: branch,
      new_branch: branch,
      branch: 'main',
    });
    const pull = await must(ground.call, 'POST', repo('/pulls'), { title: branch, head: branch, base: 'main' }, ground.bot.token);
    return (pull as { number: number }).number;
  };

  describe('document 3: pull requests and CI', () => {
    const connection = () => ({
      kind: 'selfhosted',
      apiKey: ground.bot.token,
      endpoint: ground.url,
      project: ground.project,
      userAgent: 'svc/dev',
    });
    const scm = () => provider.createScm!(connection(), deps);
    const ci = () => provider.createCi!(connection(), deps);
    const key = (number: number) => ({ owner: ground.org, repo: ground.repo, number });
    const headOf = async (number: number) =>
      ((await must(ground.call, 'GET', repo(`/pulls/${String(number)}`))) as { head: { sha: string } }).head.sha;
    const status = (sha: string, state: string, context: string) =>
      must(ground.call, 'POST', repo(`/statuses/${sha}`), { state, context, description: `${context} ${state}` });

    it('statuses add up, from none to failing', async () => {
      const number = await openPull('statuses');
      const sha = await headOf(number);
      expect(await scm().readCiStatus(key(number), never)).toBe('');
      await status(sha, 'pending', 'build');
      expect(await scm().readCiStatus(key(number), never)).toBe('pending');
      await status(sha, 'success', 'build');
      expect(await scm().readCiStatus(key(number), never)).toBe('success');
      await status(sha, 'failure', 'lint');
      const report = await ci().readCi({ owner: ground.org, repo: ground.repo, ref: 'statuses', maxLogLines: 10 }, never);
      expect(report).toMatchObject({ status: 'failing', failingCount: 1, logExcerpt: 'lint failure', ref: 'statuses' });
    });

    it('reviews fold to a decision, and comments on lines come with them', async () => {
      const number = await openPull('reviews');
      expect(await scm().readReviewDecision(key(number), 'anyone', never)).toBe('NOT_REQUIRED');
      const review = (event: string, body: string, comments: readonly object[] = []) =>
        must(ground.call, 'POST', repo(`/pulls/${String(number)}/reviews`), { event, body, comments }, ground.reviewer.token);
      await review('REQUEST_CHANGES', 'no', [{ path: 'reviews.txt', body: 'this line', new_position: 1 }]);
      expect(await scm().readReviewDecision(key(number), 'anyone', never)).toBe('CHANGES_REQUESTED');
      const pending = await scm().readPendingReviews(key(number), 'anyone', never);
      expect(pending.map(({ body, file }) => [body, file])).toEqual([
        ['no', expect.anything()],
        ['this line', 'reviews.txt'],
      ]);
      expect(await scm().readBotReviewComments(key(number), [ground.reviewer.login.toUpperCase()], never)).toHaveLength(2);
      await review('APPROVED', 'yes');
      expect(await scm().readReviewDecision(key(number), 'anyone', never)).toBe('APPROVED');
      expect(await scm().readPendingReviews(key(number), 'anyone', never)).toEqual([]);
    });

    it('label events are told in order, and a label is removed', async () => {
      const number = await openPull('labels');
      await must(ground.call, 'POST', repo(`/issues/${String(number)}/labels`), { labels: [await labelId('l1')] });
      await scm().removeLabel(key(number), 'L1', never);
      await scm().removeLabel(key(number), 'L1', never);
      const events = await scm().readLabelEvents(key(number), never);
      expect(events.map(({ label }) => label)).toEqual(['l1', 'l1']);
    });

    it('a merge needs the expected head, and its branch is deleted once', async () => {
      const number = await openPull('merging');
      await eventually(
        async () => (await scm().readMergeStatus(key(number), never)).mergeability,
        (mergeability) => mergeability === 'clean',
      );
      const order = { strategy: 'squash', expectedSha: '0'.repeat(40) } as const;
      const head = await headOf(number);
      await expect(scm().merge(key(number), order, never)).rejects.toThrow();
      // Right after a refused try the server asks for patience (405, "Please try again later").
      const merged = () =>
        scm()
          .merge(key(number), { ...order, expectedSha: head }, never)
          .then(
            () => true,
            () => false,
          );
      await eventually(merged, (done) => done);
      await expect(scm().merge(key(number), { ...order, expectedSha: head }, never)).rejects.toMatchObject({
        alreadyMerged: true,
      });
      const branch = { owner: ground.org, repo: ground.repo };
      await scm().deleteBranch(branch, 'merging', never);
      await scm().deleteBranch(branch, 'merging', never);
    });
  });

  it.skipIf(!process.env['GITEA_RECORD'])('its answers are recorded for the tests that run without it', async () => {
    const issue = await addIssue('recorded', [await labelId('todo')]);
    await tracker().commentIssue(issue, 'recorded', never);
    const blocker = await addIssue('recorded blocker');
    const body = { owner: ground.org, repo: ground.repo, index: Number(blocker) };
    await must(ground.call, 'POST', repo(`/issues/${issue}/dependencies`), body);
    const routes = {
      repository: '',
      labels: '/labels?limit=1',
      issues: '/issues?state=open&type=issues&limit=1',
      issue: `/issues/${issue}`,
      comments: `/issues/${issue}/comments`,
      dependencies: `/issues/${issue}/dependencies?limit=1`,
      'issue labels': `/issues/${issue}/labels`,
      timeline: `/issues/${issue}/timeline?limit=1&page=1`,
      'missing issue': '/issues/999999',
    };
    const answers = await Promise.all(
      Object.entries(routes).map(async ([name, route]) => {
        const { status, headers, body: told } = await ground.call('GET', repo(route), undefined, ground.bot.token);
        const kept = ['content-type', 'link', 'x-total-count'].filter((header) => headers.has(header));
        return [
          name,
          { status, headers: Object.fromEntries(kept.map((header) => [header, headers.get(header)])), body: told },
        ] as const;
      }),
    );
    const recording = JSON.stringify({ version: ground.version, answers: Object.fromEntries(answers) }, null, 2);
    const neutral = recording.replaceAll(ground.org, 'acme').replaceAll(new URL(ground.url).host, 'forge.example');
    await writeFile(new URL('../recordings/gitea.json', import.meta.url), `${neutral}\n`);
  });

  it('the built daemon takes an issue from todo to its handoff', async () => {
    const id = await addIssue('whole way', [await labelId('todo')]);
    const place = await createPlayground({ patienceMs: 45_000 });
    try {
      await place.write(
        'WORKFLOW.md',
        `---\ntracker: { kind: gitea, endpoint: "${ground.url}", api_key: $TOKEN, project: ${ground.project}, active_states: [todo, doing], terminal_states: [done], handoff_state: review, query_filter: "q=whole way" }\nagent: { kind: mock, max_turns: 1 }\npolling: { interval_ms: 1000 }\n---\nDo {{ .issue.title }}\n`,
      );
      const daemon = await place.start(['--port', '0'], { env: { TOKEN: ground.bot.token } });
      await eventually(
        () => labelsOf(id),
        (labels) => labels.join(',') === 'review',
      );
      expect(daemon.stderr()).not.toContain(ground.bot.token);
      await daemon.stop();
    } finally {
      await place.cleanup();
    }
  });
});
