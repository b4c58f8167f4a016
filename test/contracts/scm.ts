import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ScmConflictError } from '../../src/domain/model/errors.ts';
import type { RepoKey, RequestKey, ScmAdapter } from '../../src/ports/scm.ts';
import { MERGE_STRATEGIES } from '../../src/domain/model/merge-request.ts';
import { eventually } from '../support/daemon.ts';

/** A merge request to be opened, in no vendor's words. */
export interface SeedRequest {
  readonly branch: string;
  readonly draft?: boolean;
  readonly labels?: readonly string[];
  /** Ask the harness's reviewer for a review. */
  readonly reviewAsked?: boolean;
}

/** What people and machines do on the forge. A promise is resolved once the forge shows it. */
export interface ForgePeople {
  open(seed: SeedRequest): Promise<number>;
  /** Another commit on the branch; resolves with the new head. */
  push(number: number): Promise<string>;
  headOf(number: number): Promise<string>;
  /** By the reviewer: a word on the whole and one on a line of `file`. */
  requestChanges(number: number, words: { readonly whole: string; readonly line: string; readonly file: string }): Promise<void>;
  approve(number: number): Promise<void>;
  /** A review by the account `bot`, which takes no stand. */
  botReview(number: number, body: string): Promise<void>;
  /** The result of one check of the head. */
  check(number: number, name: string, result: 'green' | 'red' | 'running'): Promise<void>;
  label(number: number, name: string): Promise<void>;
  unlabel(number: number, name: string): Promise<void>;
  labelsOf(number: number): Promise<readonly string[]>;
  merge(number: number): Promise<void>;
  close(number: number): Promise<void>;
  branches(): Promise<readonly string[]>;
}

/** The merge-request side of one kind with a forge of its own, which the suite changes behind its back. */
export interface ScmHarness {
  readonly scm: ScmAdapter;
  readonly repo: RepoKey;
  readonly accounts: { readonly own: string; readonly reviewer: string; readonly bot: string };
  readonly defaultBranch: string;
  readonly people: ForgePeople;
  /** How often the forge was asked so far. Absent where nobody can count. */
  requests?(): number;
  cleanUp(): Promise<void>;
}

type Get = () => ScmHarness;

const signal = new AbortController().signal;
const WORDS = { whole: 'please think again', line: 'this line', file: 'a.txt' };

/** What every `ScmAdapter` promises, whatever forge it talks to. */
export function scmContract(name: string, setUp: () => Promise<ScmHarness>): void {
  describe(`${name} keeps the merge-request contract`, () => {
    let harness: ScmHarness;
    beforeEach(async () => {
      harness = await setUp();
    });
    afterEach(() => harness.cleanUp());
    statusContract(() => harness);
    reviewContract(() => harness);
    labelContract(() => harness);
    mergeContract(() => harness);
  });
}

function statusContract(get: Get): void {
  it('tells what a request is, and when it may be merged', async () => {
    const { scm, people } = get();
    const number = await people.open({ branch: 'feature/plain', labels: ['Ready'] });
    const status = await settled(get(), number);
    expect(status).toMatchObject({ mergeability: 'clean', draft: false, merged: false, closed: false, fork: false });
    expect(status).toMatchObject({ headBranch: 'feature/plain', baseBranch: get().defaultBranch, labels: ['ready'] });
    expect(status.headSha).toBe(await people.headOf(number));
    const head = await people.push(number);
    expect((await scm.readMergeStatus(at(get(), number), signal)).headSha).toBe(head);
  });

  it('never calls a draft clean', async () => {
    const number = await get().people.open({ branch: 'drafted', draft: true });
    expect(await get().scm.readMergeStatus(at(get(), number), signal)).toMatchObject({ draft: true, mergeability: 'blocked' });
  });

  it('tells one that others merged from one that they closed', async () => {
    const { scm, people } = get();
    const [merged, closed] = [await people.open({ branch: 'one' }), await people.open({ branch: 'two' })];
    await settled(get(), merged);
    await people.merge(merged);
    await people.close(closed);
    expect(await scm.readMergeStatus(at(get(), merged), signal)).toMatchObject({ merged: true, closed: false });
    expect(await scm.readMergeStatus(at(get(), closed), signal)).toMatchObject({ merged: false, closed: true });
  });

  it('adds the checks of the head up, and knows none from waiting', async () => {
    const { scm, people } = get();
    const number = await people.open({ branch: 'checked' });
    const read = () => scm.readCiStatus(at(get(), number), signal);
    expect(await read()).toBe('');
    await people.check(number, 'build', 'running');
    expect(await read()).toBe('pending');
    await people.check(number, 'build', 'green');
    expect(await read()).toBe('success');
    await people.check(number, 'lint', 'red');
    expect(await read()).toBe('failing');
  });

  it('says of a request that is not there that it is not found', async () => {
    const { scm } = get();
    const nowhere = at(get(), 99_999);
    const reads = [
      () => scm.readMergeStatus(nowhere, signal),
      () => scm.readReviewDecision(nowhere, 'anyone', signal),
      () => scm.readCiStatus(nowhere, signal),
      () => scm.readPendingReviews(nowhere, 'anyone', signal),
    ];
    for (const read of reads) await expect(read()).rejects.toMatchObject({ kind: 'tracker_not_found' });
  });

  it('knows whose token it holds, the default branch, and that nothing waits in a queue', async () => {
    const { scm, repo, accounts, defaultBranch, people } = get();
    const number = await people.open({ branch: 'queue' });
    expect(await scm.readOwnAccount(signal)).toBe(accounts.own);
    expect(await scm.readDefaultBranch(repo, signal)).toBe(defaultBranch);
    const { headSha } = await scm.readMergeStatus(at(get(), number), signal);
    expect(await scm.readBranchHead(repo, 'queue', signal)).toBe(headSha);
    expect(await scm.readBranchHead(repo, 'nowhere', signal)).toBeNull();
    expect(await scm.isQueued(at(get(), number), signal)).toBe(false);
    expect((await scm.checkMergeScope(repo, signal)).mayMerge).not.toBe('no');
  });

  it('gives up at once when nobody waits any more', async () => {
    const number = await get().people.open({ branch: 'aborted' });
    const gone = AbortSignal.abort(new Error('nobody waits'));
    await expect(get().scm.readMergeStatus(at(get(), number), gone)).rejects.toThrow();
  });
}

function reviewContract(get: Get): void {
  it('asks for no review where nobody was asked, and waits for one who was', async () => {
    const { scm, people } = get();
    const [plain, asked] = [await people.open({ branch: 'plain' }), await people.open({ branch: 'asked', reviewAsked: true })];
    expect(await scm.readReviewDecision(at(get(), plain), 'anyone', signal)).toBe('NOT_REQUIRED');
    expect(await scm.readReviewDecision(at(get(), asked), 'anyone', signal)).toBe('REVIEW_REQUIRED');
    expect(await scm.readPendingReviews(at(get(), asked), 'anyone', signal)).toEqual([]);
  });

  it('tells an approval', async () => {
    const number = await get().people.open({ branch: 'approved', reviewAsked: true });
    await get().people.approve(number);
    expect(await get().scm.readReviewDecision(at(get(), number), 'anyone', signal)).toBe('APPROVED');
  });

  it('takes an approval by our own account for none, whatever the case of its name', async () => {
    const { scm, people, accounts } = get();
    const number = await people.open({ branch: 'approved-by-us', reviewAsked: true });
    await people.approve(number);
    const own = accounts.reviewer.toUpperCase();
    for (const trust of ['anyone', 'collaborators'] as const)
      expect(await scm.readReviewDecision(at(get(), number), trust, signal, own)).not.toBe('APPROVED');
    expect(await scm.readReviewDecision(at(get(), number), 'anyone', signal, 'somebody-else')).toBe('APPROVED');
  });

  it('tells who asks for changes, with the words on the whole and on the line', async () => {
    const { scm, people, accounts } = get();
    const number = await people.open({ branch: 'objected', reviewAsked: true });
    await people.requestChanges(number, WORDS);
    expect(await scm.readReviewDecision(at(get(), number), 'anyone', signal)).toBe('CHANGES_REQUESTED');
    const said = await scm.readPendingReviews(at(get(), number), 'anyone', signal);
    expect(said.map(({ body, file, reviewer, outdated }) => [body, file, reviewer, outdated])).toEqual([
      [WORDS.whole, '', accounts.reviewer, false],
      [WORDS.line, WORDS.file, accounts.reviewer, false],
    ]);
    expect(new Set(said.map(({ id }) => id)).size).toBe(2);
  });

  it('gives the words of the bots that are named, in whatever case, and of nobody else', async () => {
    const { scm, people, accounts } = get();
    const number = await people.open({ branch: 'linted', reviewAsked: true });
    await people.requestChanges(number, WORDS);
    await people.botReview(number, 'trailing space');
    const named = await scm.readBotReviewComments(at(get(), number), [accounts.bot.toUpperCase()], signal);
    expect(named.map(({ body, reviewer }) => [body, reviewer])).toEqual([['trailing space', accounts.bot]]);
    expect(await scm.readBotReviewComments(at(get(), number), [], signal)).toEqual([]);
  });
}

function labelContract(get: Get): void {
  it('tells label events oldest first', async () => {
    const { scm, people } = get();
    const number = await people.open({ branch: 'labelled' });
    await people.label(number, 'Fix');
    await people.unlabel(number, 'Fix');
    await people.label(number, 'Review');
    const events = await scm.readLabelEvents(at(get(), number), signal);
    expect(events.map(({ label, added }) => [label, added])).toEqual([
      ['fix', true],
      ['fix', false],
      ['review', true],
    ]);
    for (const { actor, at: time } of events) expect([actor, Number.isNaN(Date.parse(time))]).toEqual([actor || 'nobody', false]);
  });

  it('removes a label in whatever case, leaves the others, and may be asked twice', async () => {
    const { scm, people } = get();
    const number = await people.open({ branch: 'relabelled', labels: ['Fix', 'keep'] });
    for (const name of ['FIX', 'FIX', 'never-there']) await scm.removeLabel(at(get(), number), name, signal);
    expect(await people.labelsOf(number)).toEqual(['keep']);
  });
}

function mergeContract(get: Get): void {
  it.each(MERGE_STRATEGIES)('merges with the strategy %s what is as expected', async (strategy) => {
    const { scm, people } = get();
    const number = await people.open({ branch: `by-${strategy}` });
    await settled(get(), number);
    await scm.merge(at(get(), number), { strategy, expectedSha: await people.headOf(number) }, signal);
    expect(await scm.readMergeStatus(at(get(), number), signal)).toMatchObject({ merged: true });
  });

  it('refuses what is not as expected, and marks what was merged already', async () => {
    const { scm, people } = get();
    const number = await people.open({ branch: 'moved' });
    const before = await people.headOf(number);
    await people.push(number);
    await settled(get(), number);
    const stale = conflictOf(scm.merge(at(get(), number), { strategy: 'merge', expectedSha: before }, signal));
    expect((await stale).alreadyMerged).toBe(false);
    expect(await scm.readMergeStatus(at(get(), number), signal)).toMatchObject({ merged: false });
    await eventually(
      () =>
        people.merge(number).then(
          () => true,
          () => false,
        ),
      (done) => done,
      'a merge by hand',
    );
    const late = conflictOf(
      scm.merge(at(get(), number), { strategy: 'merge', expectedSha: await people.headOf(number) }, signal),
    );
    expect((await late).alreadyMerged).toBe(true);
  });

  it('sends nothing without an expected head or with a strategy that is none', async () => {
    const { scm, people } = get();
    const number = await people.open({ branch: 'unsent' });
    const asked = get().requests?.();
    const orders = [
      { strategy: 'squash', expectedSha: '' } as const,
      { strategy: 'octopus' as 'merge', expectedSha: 'a'.repeat(40) },
    ];
    for (const order of orders) {
      await expect(scm.merge(at(get(), number), order, signal)).rejects.toMatchObject({ kind: 'tracker_payload_error' });
    }
    expect(get().requests?.()).toBe(asked);
  });

  it('deletes a branch whatever its name, and may be asked twice', async () => {
    const { scm, repo, people } = get();
    const branch = 'feature/ä#1';
    await people.open({ branch });
    expect(await people.branches()).toContain(branch);
    await scm.deleteBranch(repo, branch, signal);
    await scm.deleteBranch(repo, branch, signal);
    expect(await people.branches()).not.toContain(branch);
  });
}

function at({ repo }: ScmHarness, number: number): RequestKey {
  return { ...repo, number };
}

// A forge works out after a push whether a request can be merged; until then it says that it does not know.
function settled({ scm, repo }: ScmHarness, number: number) {
  return eventually(
    () => scm.readMergeStatus({ ...repo, number }, signal),
    ({ mergeability }) => mergeability === 'clean',
    'a request that can be merged',
  );
}

async function conflictOf(call: Promise<unknown>): Promise<ScmConflictError> {
  const error = await call.then(
    () => new Error('the merge went through'),
    (reason: unknown) => reason,
  );
  if (error instanceof ScmConflictError) return error;
  throw error;
}
