import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TrackerError } from '../../src/domain/model/errors.ts';
import { sameState } from '../../src/domain/model/issue.ts';
import type { Blocker } from '../../src/domain/model/issue.ts';
import type { LabelWriter, Tracker } from '../../src/ports/tracker.ts';

/** An issue to be put into the remote, in no vendor's words. Absent members are absent there too. */
export interface SeedIssue {
  readonly title: string;
  /** One of the harness's states. */
  readonly state: string;
  readonly description?: string;
  readonly labels?: readonly string[];
  readonly assignee?: string;
  readonly priority?: number;
  readonly issueType?: string;
  readonly branchName?: string;
  readonly comments?: readonly { readonly author: string; readonly body: string; readonly createdAt: string }[];
  /** Earlier issues of the same call, by their place in it. */
  readonly blockedBy?: readonly number[];
  readonly parent?: number;
  readonly createdAt?: string;
}

/** The same issue as the remote has it now. */
export interface RemoteIssue {
  readonly state: string;
  readonly labels: readonly string[];
  /** Oldest first. */
  readonly commentBodies: readonly string[];
}

/** What a kind's issues can tell beyond title, description, state, labels and comments. */
export type Ability = 'assignee' | 'priority' | 'issueType' | 'branchName' | 'parent' | 'blockedBy';

/** A tracker with a remote of its own, which the suite fills, changes behind the tracker's back and looks into. */
export interface TrackerHarness {
  readonly tracker: Tracker;
  /** As configured. At least two active states; the lists and the handoff state have nothing in common. */
  readonly states: { readonly active: readonly string[]; readonly terminal: readonly string[]; readonly handoff: string };
  readonly abilities: readonly Ability[];
  /** Names of the right form that no issue has. */
  readonly missing: { readonly id: string; readonly identifier: string };
  /** Resolves with the names under which the tracker knows them, in order. */
  seed(issues: readonly SeedIssue[]): Promise<readonly { readonly id: string; readonly identifier: string }[]>;
  readonly remote: {
    edit(id: string, change: { readonly state: string }): Promise<void>;
    find(id: string): Promise<RemoteIssue>;
    /** How often the tracker has asked the remote so far. Absent where nobody can count. */
    requests?(): number;
  };
  cleanUp(): Promise<void>;
}

const signal = new AbortController().signal;
const FENCED = 'Stopped: it needs a key.\n\n```\nthe key is `missing`\n```';

/** What every tracker kind promises, whatever it talks to. */
export function trackerContract(name: string, setUp: () => Promise<TrackerHarness>): void {
  describe(`${name} keeps the tracker contract`, () => {
    let harness: TrackerHarness;
    beforeEach(async () => {
      harness = await setUp();
    });
    afterEach(() => harness.cleanUp());
    readContract(() => harness);
    lookupContract(() => harness);
    writeContract(() => harness);
    concurrencyContract(() => harness);
  });
}

function readContract(get: () => TrackerHarness): void {
  describe('fetchCandidateIssues', () => {
    it('gives the issues in active states and no others', async () => {
      const { tracker, seed, states } = get();
      const all = [...states.active, ...states.terminal, states.handoff];
      const seeded = await seed(all.map((state, index) => ({ title: `Issue ${index}`, state })));
      const found = await tracker.fetchCandidateIssues(signal);
      const expected = seeded.slice(0, states.active.length).map(({ id }) => id);
      expect(found.map(({ id }) => id).sort()).toEqual([...expected].sort());
      for (const issue of found) expect(states.active.some((state) => sameState(state, issue.state))).toBe(true);
    });

    it('leaves comments unread, absent text empty and labels lowercased', async () => {
      const { tracker, states } = get();
      const comments = [{ author: 'ann', body: 'hello', createdAt: '2026-01-01T00:00:00Z' }];
      const [plain] = await seedAll(get(), [
        { title: 'Plain', state: first(states.active) },
        { title: 'Rich', state: first(states.active), description: 'Some *text*', labels: ['Bug', 'Area/UI'], comments },
      ]);
      const found = await tracker.fetchCandidateIssues(signal);
      expect(found.map(({ comments: read }) => read)).toEqual([null, null]);
      expect(found.find(({ id }) => id === plain.id)).toMatchObject({ title: 'Plain', description: '', assignee: '' });
      const rich = found.find(({ id }) => id !== plain.id);
      expect(rich?.description).toContain('text');
      expect(rich?.labels).toEqual(expect.arrayContaining(['bug', 'area/ui']));
      for (const issue of found) expect(issue.labels).toEqual(issue.labels.map((label) => label.toLowerCase()));
    });

    it('is an empty list when there is nothing to do', async () => {
      const { tracker, seed, states } = get();
      await seed([{ title: 'Over', state: first(states.terminal) }]);
      expect(await tracker.fetchCandidateIssues(signal)).toEqual([]);
    });

    it('sees what others changed meanwhile', async () => {
      const { tracker, states, remote } = get();
      const [issue] = await seedAll(get(), [{ title: 'Moving', state: first(states.active) }]);
      expect(await tracker.fetchCandidateIssues(signal)).toHaveLength(1);
      await remote.edit(issue.id, { state: first(states.terminal) });
      expect(await tracker.fetchCandidateIssues(signal)).toEqual([]);
    });
  });

  describe('fetchIssueById', () => {
    it('gives the whole issue with its comments', async () => {
      const { tracker, states } = get();
      const comments = [
        { author: 'ann', body: 'first words', createdAt: '2026-01-01T00:00:00Z' },
        { author: 'bob', body: 'second words', createdAt: '2026-01-02T00:00:00Z' },
      ];
      const [seeded] = await seedAll(get(), [
        { title: 'Whole', state: first(states.active), description: 'All of it', labels: ['Bug'], comments },
      ]);
      const issue = await tracker.fetchIssueById(seeded.id, signal);
      expect(issue).toMatchObject({ id: seeded.id, identifier: seeded.identifier, title: 'Whole', description: 'All of it' });
      expect(sameState(issue.state, first(states.active))).toBe(true);
      expect(issue.labels).toContain('bug');
      expect(issue.comments?.map(({ author, body }) => [author, body])).toEqual([
        ['ann', 'first words'],
        ['bob', 'second words'],
      ]);
    });

    it('gives an empty list of comments when there are none', async () => {
      const { tracker, states } = get();
      const [seeded] = await seedAll(get(), [{ title: 'Quiet', state: first(states.active) }]);
      expect((await tracker.fetchIssueById(seeded.id, signal)).comments).toEqual([]);
    });

    it.each([
      { ability: 'assignee', value: 'ann' },
      { ability: 'priority', value: 2 },
      { ability: 'issueType', value: 'Bug' },
      { ability: 'branchName', value: 'feature/seven' },
    ] as const)('tells the $ability where the kind has one', async ({ ability, value }) => {
      const { tracker, states, abilities } = get();
      if (!abilities.includes(ability)) return;
      const [seeded] = await seedAll(get(), [{ title: 'Detailed', state: first(states.active), [ability]: value }]);
      expect((await tracker.fetchIssueById(seeded.id, signal))[ability]).toBe(value);
    });

    it('tells the parent where the kind has one', async () => {
      const { tracker, states, abilities } = get();
      if (!abilities.includes('parent')) return;
      const [parent, child] = await seedAll(get(), [
        { title: 'Parent', state: first(states.active) },
        { title: 'Child', state: first(states.active), parent: 0 },
      ]);
      expect((await tracker.fetchIssueById(child.id, signal)).parent).toEqual(parent);
      expect((await tracker.fetchIssueById(parent.id, signal)).parent).toBeNull();
    });

    it('tells the blockers with their states where the kind has them', async () => {
      const { tracker, states, abilities } = get();
      if (!abilities.includes('blockedBy')) return;
      const [open, done, blocked] = await seedAll(get(), [
        { title: 'Open', state: first(states.active) },
        { title: 'Done', state: first(states.terminal) },
        { title: 'Blocked', state: first(states.active), blockedBy: [0, 1] },
      ]);
      const expected = [
        [open.id, first(states.active).toLowerCase()],
        [done.id, first(states.terminal).toLowerCase()],
      ].sort();
      const { blockedBy } = await tracker.fetchIssueById(blocked.id, signal);
      expect(summaryOf(blockedBy ?? [])).toEqual(expected);
      const listed = (await tracker.fetchCandidateIssues(signal)).find(({ id }) => id === blocked.id)?.blockedBy;
      const read = tracker.blockers === undefined ? listed : await tracker.blockers.read(blocked.id, signal);
      expect(summaryOf(read ?? [])).toEqual(expected);
    });

    it('says tracker_not_found for a missing issue', async () => {
      const { tracker, missing } = get();
      await expectNotFound(tracker.fetchIssueById(missing.id, signal));
    });
  });

  describe('fetchIssueComments', () => {
    it('gives all comments, oldest first', async () => {
      const { tracker, states } = get();
      const days = ['01', '02', '03'];
      const comments = days.map((day) => ({ author: 'ann', body: `day ${day}`, createdAt: `2026-01-${day}T00:00:00Z` }));
      const [seeded] = await seedAll(get(), [{ title: 'Talk', state: first(states.active), comments }]);
      const found = await tracker.fetchIssueComments(seeded.id, signal);
      expect(found.map(({ body }) => body)).toEqual(['day 01', 'day 02', 'day 03']);
      expect(new Set(found.map(({ id }) => id)).size).toBe(3);
      expect(found.map(({ createdAt }) => Date.parse(createdAt))).toEqual(comments.map(({ createdAt }) => Date.parse(createdAt)));
    });

    it('gives an empty list when there are none, and tracker_not_found for a missing issue', async () => {
      const { tracker, states, missing } = get();
      const [seeded] = await seedAll(get(), [{ title: 'Quiet', state: first(states.active) }]);
      expect(await tracker.fetchIssueComments(seeded.id, signal)).toEqual([]);
      await expectNotFound(tracker.fetchIssueComments(missing.id, signal));
    });
  });
}

function lookupContract(get: () => TrackerHarness): void {
  describe('fetchIssuesByStates', () => {
    it('gives the issues in the given states, whatever the case of the names', async () => {
      const { tracker, seed, states } = get();
      const seeded = await seed([
        { title: 'Active', state: first(states.active) },
        { title: 'Over', state: first(states.terminal) },
      ]);
      const found = await tracker.fetchIssuesByStates([first(states.terminal).toUpperCase()], signal);
      expect(found.map(({ id }) => id)).toEqual([seeded[1]?.id]);
      expect(found[0]?.comments).toBeNull();
      const both = await tracker.fetchIssuesByStates([first(states.active), first(states.terminal)], signal);
      expect(both.map(({ id }) => id).sort()).toEqual(seeded.map(({ id }) => id).sort());
    });

    it('gives nothing for no states, without a request', async () => {
      const { tracker, seed, states, remote } = get();
      await seed([{ title: 'Over', state: first(states.terminal) }]);
      const before = remote.requests?.();
      expect(await tracker.fetchIssuesByStates([], signal)).toEqual([]);
      expect(remote.requests?.()).toBe(before);
    });
  });

  describe('state lookups', () => {
    it('give the current state by id and by identifier, and leave out what is missing', async () => {
      const { tracker, states, missing, remote } = get();
      const [one, two] = await seedAll(get(), [
        { title: 'One', state: first(states.active) },
        { title: 'Two', state: first(states.terminal) },
      ]);
      await remote.edit(one.id, { state: second(states.active) });
      const expected = [second(states.active).toLowerCase(), first(states.terminal).toLowerCase()];
      const byId = await tracker.fetchIssueStatesByIds([one.id, missing.id, two.id], signal);
      expect([...byId.keys()].sort()).toEqual([one.id, two.id].sort());
      expect([one, two].map((issue) => byId.get(issue.id)?.toLowerCase())).toEqual(expected);
      const names = [missing.identifier, two.identifier, one.identifier];
      const byIdentifier = await tracker.fetchIssueStatesByIdentifiers(names, signal);
      expect([...byIdentifier.keys()].sort()).toEqual([one.identifier, two.identifier].sort());
      expect([one, two].map((issue) => byIdentifier.get(issue.identifier)?.toLowerCase())).toEqual(expected);
    });

    it('give an empty map for no names', async () => {
      const { tracker } = get();
      expect((await tracker.fetchIssueStatesByIds([], signal)).size).toBe(0);
      expect((await tracker.fetchIssueStatesByIdentifiers([], signal)).size).toBe(0);
    });
  });
}

function writeContract(get: () => TrackerHarness): void {
  describe('transitionIssue', () => {
    it('moves an issue along its life, and every move may be repeated', async () => {
      const { tracker, states, remote } = get();
      const [issue] = await seedAll(get(), [{ title: 'Moved', state: first(states.active), labels: ['keep'] }]);
      const id = issue.id;
      for (const state of [second(states.active), states.handoff, first(states.terminal), first(states.active)]) {
        await tracker.transitionIssue(id, state, signal);
        await tracker.transitionIssue(id, state, signal);
        const seen = (await tracker.fetchIssueStatesByIds([id], signal)).get(id) ?? '';
        expect(sameState(seen, state), `the tracker reads "${seen}" after a move to "${state}"`).toBe(true);
        expect(sameState((await remote.find(id)).state, state)).toBe(true);
      }
      expect((await remote.find(id)).labels.map((label) => label.toLowerCase())).toContain('keep');
    });

    it('takes an issue that is handed off out of the candidates', async () => {
      const { tracker, states } = get();
      const [issue] = await seedAll(get(), [{ title: 'Handed off', state: first(states.active) }]);
      await tracker.transitionIssue(issue.id, states.handoff, signal);
      expect(await tracker.fetchCandidateIssues(signal)).toEqual([]);
    });

    it('says tracker_not_found for a missing issue', async () => {
      const { tracker, states, missing } = get();
      await expectNotFound(tracker.transitionIssue(missing.id, states.handoff, signal));
    });
  });

  describe('commentIssue', () => {
    it('adds a comment behind the others, fenced code included', async () => {
      const { tracker, states, remote } = get();
      const comments = [{ author: 'ann', body: 'before', createdAt: '2026-01-01T00:00:00Z' }];
      const [issue] = await seedAll(get(), [{ title: 'Talked to', state: first(states.active), comments }]);
      await tracker.commentIssue(issue.id, FENCED, signal);
      const bodies = (await tracker.fetchIssueComments(issue.id, signal)).map(({ body }) => body);
      expect(bodies).toHaveLength(2);
      expect(bodies[0]).toBe('before');
      for (const part of ['Stopped: it needs a key.', 'the key is `missing`']) expect(bodies[1]).toContain(part);
      expect((await remote.find(issue.id)).commentBodies).toHaveLength(2);
    });

    it('says tracker_not_found for a missing issue', async () => {
      const { tracker, missing } = get();
      await expectNotFound(tracker.commentIssue(missing.id, 'text', signal));
    });
  });

  describe('labels', () => {
    it('are added and removed, each as often as one likes, and others stay', async () => {
      const { tracker, states, remote } = get();
      if (tracker.labels === undefined) return;
      const writer: LabelWriter = tracker.labels;
      const [issue] = await seedAll(get(), [{ title: 'Labelled', state: first(states.active), labels: ['Keep', 'Old'] }]);
      const id = issue.id;
      const labels = async (): Promise<string[]> => (await remote.find(id)).labels.map((label) => label.toLowerCase());
      await writer.add(id, 'needs-human', signal);
      await writer.add(id, 'Needs-Human', signal);
      expect((await labels()).filter((label) => label === 'needs-human')).toHaveLength(1);
      expect((await tracker.fetchIssueById(id, signal)).labels).toEqual(expect.arrayContaining(['keep', 'old', 'needs-human']));
      await writer.remove(id, 'old', signal);
      await writer.remove(id, 'old', signal);
      expect(await labels()).toEqual(expect.arrayContaining(['keep', 'needs-human']));
      expect(await labels()).not.toContain('old');
      expect(sameState((await remote.find(id)).state, first(states.active))).toBe(true);
    });

    it('say tracker_not_found for a missing issue', async () => {
      const { tracker, missing } = get();
      if (tracker.labels === undefined) return;
      await expectNotFound(tracker.labels.add(missing.id, 'x', signal));
    });
  });
}

function concurrencyContract(get: () => TrackerHarness): void {
  describe('at once', () => {
    it('reads and writes do not disturb each other', async () => {
      const { tracker, seed, states, remote } = get();
      const seeded = await seed(
        Array.from({ length: 6 }, (_, index) => ({ title: `Issue ${index}`, state: first(states.active) })),
      );
      const work = seeded.map(async ({ id }, index) => {
        await tracker.transitionIssue(id, index % 2 === 0 ? states.handoff : first(states.terminal), signal);
        await tracker.commentIssue(id, `note ${index}`, signal);
      });
      const reads = seeded.map(({ id }) => tracker.fetchIssueById(id, signal));
      const issues = await Promise.all(reads);
      await Promise.all(work);
      expect(issues.map(({ id }) => id)).toEqual(seeded.map(({ id }) => id));
      for (const [index, { id }] of seeded.entries()) {
        const found = await remote.find(id);
        expect(sameState(found.state, index % 2 === 0 ? states.handoff : first(states.terminal))).toBe(true);
        expect(found.commentBodies).toHaveLength(1);
      }
    });

    it('comments on one issue are all kept', async () => {
      const { tracker, states, remote } = get();
      const [issue] = await seedAll(get(), [{ title: 'Busy', state: first(states.active) }]);
      await Promise.all([1, 2, 3, 4, 5].map((note) => tracker.commentIssue(issue.id, `note ${note}`, signal)));
      const bodies = (await remote.find(issue.id)).commentBodies;
      expect(bodies).toHaveLength(5);
      for (const note of [1, 2, 3, 4, 5]) expect(bodies.some((body) => body.includes(`note ${note}`))).toBe(true);
    });

    it('an aborted call ends at once and changes nothing', async () => {
      const { tracker, states, remote } = get();
      const [issue] = await seedAll(get(), [{ title: 'Left alone', state: first(states.active) }]);
      const aborted = AbortSignal.abort();
      await expect(tracker.fetchCandidateIssues(aborted)).rejects.toThrow();
      await expect(tracker.transitionIssue(issue.id, states.handoff, aborted)).rejects.toThrow();
      expect(sameState((await remote.find(issue.id)).state, first(states.active))).toBe(true);
    });
  });
}

async function expectNotFound(work: Promise<unknown>): Promise<void> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TrackerError);
  expect(error).toMatchObject({ kind: 'tracker_not_found', retryable: false });
  expect((error as TrackerError).message).toMatch(/^tracker: tracker_not_found: \S+ \S.*: \S/);
}

function summaryOf(blockers: readonly Blocker[]): (string | undefined)[][] {
  return blockers.map(({ id, state }) => [id, state.toLowerCase()]).sort();
}

type Known = Awaited<ReturnType<TrackerHarness['seed']>>[number];

/** Seeds and gives the names one by one. */
async function seedAll<const T extends readonly SeedIssue[]>(
  { seed }: TrackerHarness,
  issues: T,
): Promise<{ [Key in keyof T]: Known }> {
  const known = await seed(issues);
  expect(known).toHaveLength(issues.length);
  return known as { [Key in keyof T]: Known };
}

function first(states: readonly string[]): string {
  return states[0] ?? '';
}

function second(states: readonly string[]): string {
  return states[1] ?? '';
}
