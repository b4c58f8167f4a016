import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import type { Approvable, Issue, Person } from '../model/issue.ts';
import type { TrackerSettings } from '../model/settings.ts';

const ADA: Person = { id: '7', names: ['ada', 'ada@example.org'], mayWrite: true };
const EVE: Person = { id: '9', names: ['Eve'], mayWrite: false };

function player(tracker: Partial<TrackerSettings>, slots = 3): Player {
  return createPlayer(settingsWith({ tracker, agent: { maxConcurrentAgents: slots } }));
}

const OPEN_BLOCKER = { id: '99', identifier: 'T-99', state: 'todo' };

const running = ({ state }: Player): readonly string[] => [...state.live.keys()];
const held = ({ state }: Player, id: string): string | undefined => state.holds.get(id)?.reason;

describe('tracker.authors', () => {
  it.each<[name: string, authors: TrackerSettings['authors'], author: Person | null, runs: boolean]>([
    ['anyone takes a stranger', 'anyone', EVE, true],
    ['anyone takes an issue of nobody', 'anyone', null, true],
    ['collaborators take who may write', 'collaborators', ADA, true],
    ['collaborators hold who may not', 'collaborators', EVE, false],
    ['collaborators hold whom nobody knows', 'collaborators', null, false],
    ['what is not known makes nobody trusted', 'collaborators', { ...EVE, mayWrite: null, whyUnknown: 'status 403' }, false],
    ['a list takes a name, whatever its case', ['eve'], EVE, true],
    ['a list takes any name of a person', ['ADA@example.org'], ADA, true],
    ['a list holds others, also those who may write', ['eve'], ADA, false],
  ])('%s', (_name, authors, author, runs) => {
    const play = player({ authors });
    play.poll([issueWith({ id: '1', author })]);
    expect(running(play)).toEqual(runs ? ['1'] : []);
    expect(held(play, '1')).toBe(runs ? undefined : 'untrusted_author');
    if (author?.whyUnknown) expect(play.state.holds.get('1')?.detail).toContain('status 403');
  });

  it('holds a retry, too, and says so in its entry', () => {
    const play = player({ authors: 'anyone' });
    play.poll([issueWith({ id: '1', author: EVE })]);
    play.exit('1', { kind: 'error', fault: { kind: 'turn_failed', message: 'broken', consequence: 'back-off' } });
    play.send({ type: 'settings-changed', settings: settingsWith({ tracker: { authors: 'collaborators' } }) });
    readRetry(play, issueWith({ id: '1', author: EVE, comments: [] }));
    expect(running(play)).toEqual([]);
    expect(play.state.claims.get('1')).toMatchObject({ phase: 'waiting', error: expect.stringContaining('untrusted_author') });
  });
});

describe('tracker.approval_label', () => {
  const LABEL = { approvalLabel: 'approved' };
  const listed = (id: string, more: Partial<Issue> = {}): Issue => issueWith({ id, labels: ['approved'], ...more });
  const whole = (id: string, digest = 'one', labelling = ''): Issue =>
    listed(id, { comments: [], approvable: { digest, labelling } satisfies Approvable });

  it('holds an issue without the label', () => {
    const play = player(LABEL);
    play.poll([issueWith({ id: '1' })]);
    expect(held(play, '1')).toBe('not_approved');
    expect(play.asked('read-candidate')).toEqual([]);
  });

  it('reads an issue whole at the first sight of its label, stores what it says, and starts it as it was read', () => {
    const play = player(LABEL);
    play.poll([listed('1')]);
    expect(play.asked('read-candidate')).toMatchObject([{ issue: { id: '1' } }]);
    answer(play, whole('1'));
    expect(play.writes).toContainEqual({
      write: 'approve',
      approval: { issueId: '1', label: 'approved', digest: 'one', labelling: '', seenAt: play.now },
    });
    expect(play.asked('start-run')).toMatchObject([{ plan: { issueAsRead: { approvable: { digest: 'one' } } } }]);
  });

  it('stores what it says also while no slot is free, so that a later edit is seen', () => {
    const play = player(LABEL, 1);
    play.poll([listed('1'), listed('2')]);
    answer(play, whole('1'));
    answer(play, whole('2'));
    expect(running(play)).toEqual(['1']);
    expect(play.state.approvals.get('2')?.digest).toBe('one');
    play.exit('1');
    play.send(handedOff(play, '1'));
    answer(play, whole('2', 'edited'));
    expect(running(play)).toEqual([]);
    expect(held(play, '2')).toBe('changed_after_approval');
  });

  it('holds an edited issue at every poll, told once, until the label was away', () => {
    const play = edited();
    play.poll([listed('1')]);
    expect(held(play, '1')).toBe('changed_after_approval');
    answer(play, whole('1', 'two'));
    expect(held(play, '1')).toBe('changed_after_approval');
    expect(
      play.everTold('issue:candidate:held').filter(({ facts }) => 'reason' in facts && facts.reason === 'changed_after_approval'),
    ).toHaveLength(1);
    play.poll([issueWith({ id: '1' })]);
    expect(play.writes).toContainEqual({ write: 'unapprove', issueId: '1' });
    expect(held(play, '1')).toBe('not_approved');
    play.poll([listed('1')]);
    answer(play, whole('1', 'two'));
    expect(running(play)).toEqual(['1']);
  });

  it('takes a label that was set again between two polls for a new approval, where the tracker tells', () => {
    const play = player(LABEL, 1);
    play.poll([listed('1')]);
    answer(play, whole('1', 'one', 'event-1'));
    fail(play, '1');
    readRetry(play, whole('1', 'two', 'event-1'));
    expect(running(play)).toEqual([]);
    readRetry(play, whole('1', 'two', 'event-2'));
    expect(running(play)).toEqual(['1']);
    expect(play.state.approvals.get('1')).toMatchObject({ digest: 'two', labelling: 'event-2' });
  });

  it('holds retries: of an edited issue, and of one that lost the label', () => {
    const play = player(LABEL);
    play.poll([listed('1')]);
    answer(play, whole('1'));
    fail(play, '1');
    readRetry(play, whole('1', 'two'));
    expect(play.state.claims.get('1')).toMatchObject({ error: expect.stringContaining('changed_after_approval') });
    readRetry(play, issueWith({ id: '1', comments: [] }));
    expect(play.state.claims.get('1')).toMatchObject({ error: expect.stringContaining('not_approved') });
    readRetry(play, whole('1', 'two'));
    expect(running(play)).toEqual(['1']);
  });

  it('tells once per reason of a retry that is held, and shows the reason among the holds', () => {
    const play = player(LABEL);
    play.poll([listed('1')]);
    answer(play, whole('1'));
    fail(play, '1');
    play.poll([listed('1')]);
    expect(held(play, '1')).toBe('retrying');
    for (let times = 0; times < 2; times += 1) {
      readRetry(play, whole('1', 'two'));
      play.poll([listed('1')]);
      expect(held(play, '1')).toBe('changed_after_approval');
    }
    readRetry(play, issueWith({ id: '1', comments: [] }));
    const told = play.everTold('issue:candidate:held').flatMap(({ facts }) => ('reason' in facts ? [facts.reason] : []));
    expect(told.filter((reason) => reason === 'changed_after_approval' || reason === 'not_approved')).toEqual([
      'changed_after_approval',
      'not_approved',
    ]);
    readRetry(play, { ...whole('1', 'two'), blockedBy: [OPEN_BLOCKER] });
    play.poll([listed('1')]);
    expect(held(play, '1')).toBe('blocked_by');
  });

  it('keeps what was approved when the issue is away for a while: the same label approves no later edit', () => {
    const play = player(LABEL);
    play.poll([listed('1')]);
    answer(play, whole('1'));
    play.exit('1');
    play.send(handedOff(play, '1'));
    play.poll([]);
    play.poll([listed('1')]);
    answer(play, whole('1', 'two'));
    expect(held(play, '1')).toBe('changed_after_approval');
  });

  it('an issue that was changed does not keep others from being read', () => {
    const play = player(LABEL, 1);
    const ids = ['1', '2', '3', '4', '5', '6'];
    play.poll(ids.map((id) => listed(id)));
    for (const id of ids) answer(play, whole(id));
    play.exit('1');
    play.send(handedOff(play, '1'));
    // Everybody but the last was edited meanwhile.
    for (let polls = 0; polls < 4 && running(play).length === 0; polls += 1) {
      play.poll(ids.slice(1).map((id) => listed(id)));
      for (let reads = 0; reads < 6; reads += 1) {
        const [asked] = [...(play.state.pending['read-candidate']?.keys() ?? [])];
        if (asked === undefined) break;
        answer(play, whole(asked, asked === '6' ? 'one' : 'edited'));
      }
    }
    expect(running(play)).toEqual(['6']);
  });

  it('is not read for an issue that the list shows to be blocked', () => {
    const play = player(LABEL, 1);
    play.poll([listed('1', { blockedBy: [OPEN_BLOCKER] })]);
    expect(held(play, '1')).toBe('blocked_by');
    play.poll([listed('1', { blockedBy: [] })]);
    expect(held(play, '1')).toBe('approval_not_read');
  });

  it('says of one that could not be read why, until it is', () => {
    const play = player(LABEL, 1);
    play.poll([listed('1')]);
    const fault = { kind: 'tracker_api_error', message: 'GET /user: status 500', consequence: 'back-off' } as const;
    play.send({ type: 'candidate-read', issueId: '1', issue: { ok: false, fault } });
    play.poll([listed('1')]);
    expect(play.state.holds.get('1')).toMatchObject({
      reason: 'approval_not_read',
      detail: expect.stringContaining('status 500'),
    });
    expect(play.state.approvals.size).toBe(0);
    answer(play, whole('1'));
    expect(running(play)).toEqual(['1']);
  });

  it('issues that turn out to be blocked when they are read do not keep others from being read', () => {
    const play = player(LABEL, 1);
    const ids = Array.from({ length: 40 }, (_, index) => `${index + 1}`);
    let polls = 0;
    for (; polls < 80 && running(play).length === 0; polls += 1) {
      play.poll(ids.map((id) => listed(id, { blockedBy: null, priority: Number(id) })));
      // All have been read for their approval when the last one becomes free.
      for (let [asked] = pendingReads(play); asked !== undefined; [asked] = pendingReads(play))
        answer(play, { ...whole(asked), blockedBy: polls > 20 && asked === '40' ? [] : [OPEN_BLOCKER] });
    }
    expect(running(play)).toEqual(['40']);
  });

  it('comes back to an issue that was read in vain', () => {
    const play = player(LABEL, 1);
    const ids = Array.from({ length: 200 }, (_, index) => `${index + 1}`);
    let polls = 0;
    for (; polls < 400 && !running(play).includes('1'); polls += 1) {
      play.poll(ids.map((id) => listed(id, { blockedBy: null, priority: Number(id) })));
      for (let [asked] = pendingReads(play); asked !== undefined; [asked] = pendingReads(play))
        answer(play, { ...whole(asked), blockedBy: polls > 100 && asked === '1' ? [] : [OPEN_BLOCKER] });
    }
    expect(running(play)).toEqual(['1']);
  });

  const pendingReads = ({ state }: Player): string[] => [...(state.pending['read-candidate']?.keys() ?? [])];

  function edited(): Player {
    const play = player(LABEL, 1);
    play.poll([listed('1'), listed('2')]);
    answer(play, whole('2'));
    answer(play, whole('1'));
    play.exit('2');
    play.send(handedOff(play, '2'));
    answer(play, whole('1', 'two'));
    return play;
  }
});

function answer(play: Player, issue: Issue): void {
  play.send({ type: 'candidate-read', issueId: issue.id, issue: { ok: true, value: issue } });
}

function fail(play: Player, id: string): void {
  play.exit(id, { kind: 'error', fault: { kind: 'turn_failed', message: 'broken', consequence: 'back-off' } });
}

function readRetry(play: Player, issue: Issue): void {
  const claim = play.state.claims.get(issue.id);
  if (claim?.phase === 'waiting') play.after(Math.max(0, claim.dueAt - play.now));
  play.send({ type: 'issue-read', issueId: issue.id, issue: { ok: true, value: issue } });
}

function handedOff({ state }: Player, issueId: string) {
  const claim = state.claims.get(issueId);
  if (claim?.phase !== 'handing-off') throw new Error('no handoff is under way');
  return { type: 'handoff-answered', issueId, runId: claim.handoff.runId, outcome: { kind: 'succeeded' } } as const;
}
