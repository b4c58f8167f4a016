import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ScmConflictError } from '../../../src/domain/model/errors.ts';
import { eventually } from '../../support/daemon.ts';
import type { Account, Ground } from './ground.ts';
import { giteaFromEnvironment, MERGE_SCOPES, must, prepareGround, TRACKER_SCOPES } from './ground.ts';
import { openRepository, openRoles, type Repository } from './repository.ts';

const server = giteaFromEnvironment();
const never = new AbortController().signal;

describe.skipIf(server === null)('document 3: pull requests and CI of a real server', () => {
  let ground: Ground;
  let repo: Repository;
  const scm = (apiKey?: string) => openRoles(ground, apiKey === undefined ? {} : { apiKey }).scm;
  const key = (number: number) => ({ ...repo.key, number });
  const headOf = async (number: number) => (await repo.pull(number)).head.sha;
  const settled = (number: number) =>
    eventually(
      () => scm().readMergeStatus(key(number), never),
      ({ mergeability }) => mergeability === 'clean',
    );
  beforeAll(async () => {
    ground = await prepareGround(server!);
    repo = openRepository(ground, await ground.addRepo());
  });
  afterAll(async () => ground?.cleanup());

  describe('mergeability', () => {
    it('a conflict is unknown, never dirty', async () => {
      const [first, second] = [await repo.openPull({ branch: 'left' }), await repo.openPull({ branch: 'right' })];
      await settled(first);
      await scm().merge(key(first), { strategy: 'merge', expectedSha: await headOf(first) }, never);
      const status = await eventually(
        () => scm().readMergeStatus(key(second), never),
        ({ mergeability }) => mergeability !== 'clean',
      );
      expect(status.mergeability).toBe('unknown');
      const refused = scm().merge(key(second), { strategy: 'merge', expectedSha: await headOf(second) }, never);
      await expect(refused).rejects.toBeInstanceOf(ScmConflictError);
    });
  });

  describe('review decision', () => {
    let tidy: Repository;
    beforeAll(async () => {
      tidy = openRepository(ground, await ground.addRepo());
    });
    type Step = readonly [by: 'reviewer' | 'linter', event: string];
    const decided = (number: number, trust: 'anyone' | 'collaborators' = 'anyone') =>
      scm().readReviewDecision({ ...tidy.key, number }, trust, never);

    it('a comment decides nothing: its author is waited for where the server counts them as asked', async () => {
      const number = await tidy.openPull({ branch: 'a-comment' });
      await tidy.review(number, ground.reviewer, { event: 'COMMENT', body: 'hm' });
      const { requested_reviewers: asked } = await tidy.pull(number);
      expect(await decided(number)).toBe(asked?.length ? 'REVIEW_REQUIRED' : 'NOT_REQUIRED');
    });

    it.each<[name: string, steps: readonly Step[], decision: string]>([
      ['an approval', [['reviewer', 'APPROVED']], 'APPROVED'],
      ['a request for changes', [['reviewer', 'REQUEST_CHANGES']], 'CHANGES_REQUESTED'],
      [
        'the latest of one reviewer counts',
        [
          ['reviewer', 'REQUEST_CHANGES'],
          ['reviewer', 'APPROVED'],
        ],
        'APPROVED',
      ],
      [
        'a comment does not take an approval back',
        [
          ['reviewer', 'APPROVED'],
          ['reviewer', 'COMMENT'],
        ],
        'APPROVED',
      ],
      [
        'one objection outweighs an approval',
        [
          ['linter', 'REQUEST_CHANGES'],
          ['reviewer', 'APPROVED'],
        ],
        'CHANGES_REQUESTED',
      ],
      ['a drafted review counts for nothing', [['reviewer', 'PENDING']], 'NOT_REQUIRED'],
    ])('%s', async (name, steps, decision) => {
      const number = await tidy.openPull({ branch: name.replaceAll(' ', '-') });
      for (const [by, event] of steps) await tidy.review(number, ground[by], { event, body: `${event} it is` });
      expect(await decided(number)).toBe(decision);
    });

    it('a dismissed review is skipped, and one who is asked again is waited for', async () => {
      const number = await tidy.openPull({ branch: 'dismissed' });
      const id = await tidy.review(number, ground.reviewer, { event: 'REQUEST_CHANGES', body: 'no' });
      const route = tidy.at(`/pulls/${String(number)}/reviews/${String(id)}/dismissals`);
      await must(ground.call, 'POST', route, { message: 'settled' });
      expect(await decided(number)).toBe('NOT_REQUIRED');
      expect(await scm().readPendingReviews({ ...tidy.key, number }, 'anyone', never)).toEqual([]);
      const asked = { reviewers: [ground.reviewer.login] };
      await must(ground.call, 'POST', tidy.at(`/pulls/${String(number)}/requested_reviewers`), asked);
      expect(await decided(number)).toBe('REVIEW_REQUIRED');
    });

    it('the word of one without write access is not official, and does not count for collaborators', async () => {
      const number = await tidy.openPull({ branch: 'stranger' });
      await tidy.review(number, ground.guest, { event: 'REQUEST_CHANGES', body: 'as a stranger' });
      expect(await decided(number, 'collaborators')).toBe('NOT_REQUIRED');
      expect(await decided(number)).toBe('CHANGES_REQUESTED');
    });

    it('a comment on a line that the change takes away reports position 0 and counts as outdated', async () => {
      const { sha } = (await must(ground.call, 'GET', tidy.at('/contents/README.md'))) as { sha: string };
      const content = Buffer.from('other words\n').toString('base64');
      const change = { content, message: 'reword', branch: 'main', new_branch: 'reworded', sha };
      await must(ground.call, 'PUT', tidy.at('/contents/README.md'), change);
      const wish = { title: 'reworded', head: 'reworded', base: 'main' };
      const { number } = (await must(ground.call, 'POST', tidy.at('/pulls'), wish, ground.bot.token)) as { number: number };
      const comments = [{ path: 'README.md', body: 'why', old_position: 1 }];
      await tidy.review(number, ground.reviewer, { event: 'REQUEST_CHANGES', body: 'see', comments });
      const words = await scm().readPendingReviews({ ...tidy.key, number }, 'anyone', never);
      expect(words.map(({ body, endLine, outdated }) => [body, endLine, outdated])).toEqual([
        ['see', 0, false],
        ['why', 1, true],
      ]);
    });
  });

  describe('commit statuses', () => {
    it.each<[state: string, conclusion: string, status: string, gate: string]>([
      ['success', 'success', 'completed', 'success'],
      ['warning', 'neutral', 'completed', 'success'],
      ['pending', 'pending', 'in progress', 'pending'],
      ['failure', 'failure', 'completed', 'failing'],
      ['error', 'failure', 'completed', 'failing'],
    ])('%s is %s, %s; the gate reads %s', async (state, conclusion, status, gate) => {
      const number = await repo.openPull({ branch: `status-${state}`, file: `${state}.txt` });
      const sha = await headOf(number);
      await repo.status(sha, { state, context: 'build', target_url: 'https://ci.example/1', description: 'said' });
      const report = await openRoles(ground).ci.readCi({ ...repo.key, ref: sha, maxLogLines: 5 }, never);
      expect(report.checkRuns).toEqual([{ name: 'build', status, conclusion, detailsUrl: 'https://ci.example/1' }]);
      expect(await scm().readCiStatus(key(number), never)).toBe(gate);
      expect(report.logExcerpt).toBe(gate === 'failing' ? 'said\nhttps://ci.example/1' : '');
    });

    it('are read over all pages, and the last word of a context counts', async () => {
      const number = await repo.openPull({ branch: 'status-many', file: 'many.txt' });
      const sha = await headOf(number);
      await repo.status(sha, { state: 'failure', context: 'flaky' });
      for (let count = 1; count <= 52; count += 1) await repo.status(sha, { state: 'success', context: `job ${String(count)}` });
      const read = () => openRoles(ground).ci.readCi({ ...repo.key, ref: 'status-many', maxLogLines: 5 }, never);
      expect(await read()).toMatchObject({ status: 'failing', failingCount: 1 });
      await repo.status(sha, { state: 'success', context: 'flaky' });
      const report = await read();
      expect([report.status, report.checkRuns.length]).toEqual(['success', 53]);
    });
  });

  describe('opening requests', () => {
    it('finds none, opens one, and finds that one; a second for the same branch is refused', async () => {
      const { opener } = openRoles(ground);
      await repo.openPull({ branch: 'other/work', file: 'other.txt' });
      const file = { content: Buffer.from('x').toString('base64'), message: 'work', new_branch: 'agent/work', branch: 'main' };
      await must(ground.call, 'POST', repo.at('/contents/work.txt'), file);
      const order = { ...repo.key, branch: 'agent/work' };
      expect(await opener.find(order, never)).toBeNull();
      const request = { ...order, base: 'main', title: `${'T'.repeat(254)}🚀 and more`, body: 'Text' };
      const made = await opener.open(request, never);
      expect(await opener.find(order, never)).toEqual(made);
      await expect(opener.open(request, never)).rejects.toMatchObject({ kind: 'tracker_api_error', status: 409 });
    });
  });

  describe('merges and branches', () => {
    let clean: Repository;
    const order = async (number: number) => ({ strategy: 'squash', expectedSha: (await clean.pull(number)).head.sha }) as const;
    const at = (number: number) => ({ ...clean.key, number });
    const merge = async (number: number, apiKey?: string) => scm(apiKey).merge(at(number), await order(number), never);
    const openClean = async (branch: string) => {
      const number = await clean.openPull({ branch, file: `${branch}.txt` });
      await eventually(
        () => scm().readMergeStatus(at(number), never),
        ({ mergeability }) => mergeability === 'clean',
      );
      return number;
    };
    beforeAll(async () => {
      clean = openRepository(ground, await ground.addRepo());
    });

    it('a draft is refused as a conflict, without the already-merged mark', async () => {
      const number = await clean.openPull({ branch: 'draft', draft: true });
      const refused = merge(number);
      await expect(refused).rejects.toMatchObject({ name: 'ScmConflictError', alreadyMerged: false });
      await expect(merge(number)).rejects.toThrow(/draft/);
    });

    it('right after a merge that was refused for its head, the server asks for patience', async () => {
      const number = await openClean('patience');
      const stale = { strategy: 'squash', expectedSha: '0'.repeat(40) } as const;
      await expect(scm().merge(at(number), stale, never)).rejects.toBeInstanceOf(ScmConflictError);
      const answers: string[] = [];
      await eventually(
        () =>
          merge(number).then(
            () => 'merged',
            (error: unknown) => answers.push(String(error)) && 'refused',
          ),
        (result) => result === 'merged',
      );
      for (const answer of answers) expect(answer).toMatch(/try again later/i);
    });

    it('a protected branch refuses what lacks its approvals, and lets it through once they are there', async () => {
      const rule = { rule_name: 'main', required_approvals: 1, enable_push: false };
      await must(ground.call, 'POST', clean.at('/branch_protections'), rule);
      const number = await openClean('guarded');
      await expect(merge(number)).rejects.toMatchObject({ name: 'ScmConflictError', alreadyMerged: false });
      await clean.review(number, ground.reviewer, { event: 'APPROVED', body: 'fine' });
      await eventually(
        () =>
          merge(number).then(
            () => true,
            () => false,
          ),
        (done) => done,
      );
      expect((await clean.pull(number)).merged).toBe(true);
      await must(ground.call, 'DELETE', clean.at('/branch_protections/main'));
    });

    it('a protected branch whose checks are missing or red refuses', async () => {
      const rule = { rule_name: 'main', enable_status_check: true, status_check_contexts: ['build'] };
      await must(ground.call, 'POST', clean.at('/branch_protections'), rule);
      const number = await openClean('unchecked');
      await expect(merge(number)).rejects.toBeInstanceOf(ScmConflictError);
      await clean.status((await clean.pull(number)).head.sha, { state: 'success', context: 'build' });
      await eventually(
        () =>
          merge(number).then(
            () => true,
            () => false,
          ),
        (done) => done,
      );
      await must(ground.call, 'DELETE', clean.at('/branch_protections/main'));
    });

    it('a token without write:repository is told so, for merges and for branches', async () => {
      const number = await openClean('scopes');
      const least = await ground.bot.tokenWith(TRACKER_SCOPES);
      const refused = { kind: 'tracker_auth_error', detail: expect.stringContaining('write:repository') as string };
      await expect(merge(number, least)).rejects.toMatchObject(refused);
      await expect(scm(least).deleteBranch(clean.key, 'scopes', never)).rejects.toMatchObject(refused);
    });

    it.each<[who: 'bot' | 'guest', mayMerge: string]>([
      ['bot', 'unknown'],
      ['guest', 'no'],
    ])('the preflight of %s says %s', async (who, mayMerge) => {
      const account: Account = ground[who];
      expect((await scm(await account.tokenWith(MERGE_SCOPES)).checkMergeScope(clean.key, never)).mayMerge).toBe(mayMerge);
    });

    it('a protected branch is not deleted, and that is an error', async () => {
      await clean.openPull({ branch: 'kept', file: 'kept.txt' });
      await must(ground.call, 'POST', clean.at('/branch_protections'), { rule_name: 'kept' });
      await expect(scm().deleteBranch(clean.key, 'kept', never)).rejects.toMatchObject({ name: 'TrackerError' });
      expect(await clean.branches()).toContain('kept');
    });

    it('a request from a fork is told as one', async () => {
      await must(ground.call, 'POST', clean.at('/forks'), { name: 'copy' }, ground.reviewer.token);
      const copy = openRepository(ground, `${ground.reviewer.login}/copy`);
      const file = { content: Buffer.from('x').toString('base64'), message: 'm', new_branch: 'theirs', branch: 'main' };
      await must(ground.call, 'POST', copy.at('/contents/b.txt'), file, ground.reviewer.token);
      const wish = { title: 'theirs', head: `${ground.reviewer.login}:theirs`, base: 'main' };
      const { number } = (await must(ground.call, 'POST', clean.at('/pulls'), wish, ground.reviewer.token)) as { number: number };
      expect(await scm().readMergeStatus(at(number), never)).toMatchObject({ fork: true, headBranch: 'theirs' });
      await ground.call('DELETE', copy.at(''));
    });
  });
});
