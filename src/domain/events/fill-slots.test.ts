import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import type { Fault } from '../model/fault.ts';
import type { Issue } from '../model/issue.ts';
import { snapshotOf } from '../views/snapshot.ts';
import { nextWake } from './on-clock.ts';

const NUMBERS = ['1', '2', '3', '4', '5', '6', '7', '8'];
const fault = { kind: 'turn_failed', message: 'it failed', consequence: 'back-off' } as const;

function player(slots: number, byState: Record<string, number> = {}): Player {
  return createPlayer(settingsWith({ agent: { maxConcurrentAgents: slots, maxConcurrentAgentsByState: byState } }));
}

function issues(change: (id: string) => Partial<Issue> = () => ({})): readonly Issue[] {
  return NUMBERS.map((id) => issueWith({ id, ...change(id) }));
}

function manyIssues(count: number): readonly Issue[] {
  return Array.from({ length: count }, (_, index) =>
    issueWith({ id: String(index + 1), createdAt: new Date(index).toISOString() }),
  );
}

/** The tracker answers every candidate that was asked for. */
function answerReads(play: Player, whole: (id: string) => Issue | null): readonly string[] {
  const asked = play.asked('read-candidate').map(({ issue }) => issue.id);
  for (const id of asked) play.send({ type: 'candidate-read', issueId: id, issue: { ok: true, value: whole(id) } });
  return asked;
}

function handOffAll(play: Player, id: string): void {
  play.exit(id);
  const runId = play.asked('hand-off')[0]?.handoff.runId ?? '';
  play.send({ type: 'handoff-answered', issueId: id, runId, outcome: { kind: 'succeeded' } });
}

describe('a slot that becomes free', () => {
  it('is filled at once from the last poll, with the issue read again first', () => {
    const play = player(2);
    play.poll(issues());
    expect([...play.state.live.keys()]).toEqual(['1', '2']);
    handOffAll(play, '1');
    expect(play.asked('read-candidate').map(({ issue }) => issue.id)).toEqual(['3']);
    const whole = issueWith({ id: '3', description: 'read again' });
    play.send({ type: 'candidate-read', issueId: '3', issue: { ok: true, value: whole } });
    expect(play.asked('start-run').map(({ plan }) => plan.issueAsRead)).toEqual([whole]);
    expect([...play.state.live.keys()]).toEqual(['2', '3']);
  });

  it('goes to the next one where somebody closed the first meanwhile', () => {
    const play = player(2);
    play.poll(issues());
    handOffAll(play, '1');
    answerReads(play, (id) => issueWith({ id, isClosed: true }));
    expect([play.state.live.has('3'), play.state.holds.has('3')]).toEqual([false, false]);
    answerReads(play, (id) => issueWith({ id }));
    expect([...play.state.live.keys()]).toEqual(['2', '4']);
  });

  it.each(['constructor', '__proto__', 'toString'])(
    'of a state called %s has the limit that was set for it, or none',
    (state) => {
      const named = issues(() => ({ state }));
      const settings = { tracker: { activeStates: [state] }, agent: { maxConcurrentAgents: 3 } };
      const free = createPlayer(settingsWith(settings));
      free.poll(named);
      expect(free.state.live.size).toBe(3);
      const byState = Object.fromEntries([[state.toLowerCase(), 1]]);
      const limited = createPlayer(
        settingsWith({ ...settings, agent: { ...settings.agent, maxConcurrentAgentsByState: byState } }),
      );
      limited.poll(named);
      expect(limited.state.live.size).toBe(1);
    },
  );

  it('of a state is free when the handoff is taken, not before', () => {
    const play = player(3, { doing: 1 });
    play.poll(issues(() => ({ state: 'doing' })));
    expect([...play.state.live.keys()]).toEqual(['1']);
    play.exit('1');
    const runId = play.asked('hand-off')[0]?.handoff.runId ?? '';
    expect(play.asked('read-candidate')).toEqual([]);
    play.poll(issues((id) => ({ state: 'doing', title: id })));
    expect([...play.state.live.keys()]).toEqual([]);
    play.send({ type: 'handoff-answered', issueId: '1', runId, outcome: { kind: 'succeeded' } });
    expect(play.asked('read-candidate').map(({ issue }) => issue.id)).toEqual(['2']);
  });

  it('is not taken by an issue that moved meanwhile: the next one is read', () => {
    const play = player(1);
    play.poll(issues());
    handOffAll(play, '1');
    play.send({ type: 'candidate-read', issueId: '2', issue: { ok: true, value: issueWith({ id: '2', state: 'done' }) } });
    expect(play.asked('start-run')).toEqual([]);
    expect(play.asked('read-candidate').map(({ issue }) => issue.id)).toEqual(['3']);
  });

  it('costs at most four reads that lead to nothing between two polls', () => {
    const play = player(1);
    play.poll(issues());
    handOffAll(play, '1');
    const read: string[] = [];
    for (let asked = ['']; asked.length > 0; read.push(...asked)) {
      asked = [...answerReads(play, (id) => issueWith({ id, blockedBy: [{ id: '9', identifier: 'T-9', state: 'todo' }] }))];
    }
    expect(read).toEqual(['2', '3', '4', '5']);
  });

  it('is not taken by an approved one that is read whole at each poll and found to be blocked: told once', () => {
    const play = createPlayer(settingsWith({ tracker: { approvalLabel: 'go' }, agent: { maxConcurrentAgents: 1 } }));
    const listed = issueWith({ id: '1', labels: ['go'], blockedBy: null });
    const blockedBy = [{ id: '9', identifier: 'T-9', state: 'todo' }];
    const whole = { ...listed, blockedBy, approvable: { digest: 'd', labelling: 'l' } };
    for (let polls = 0; polls < 4; polls += 1) {
      play.poll([listed]);
      play.send({ type: 'candidate-read', issueId: '1', issue: { ok: true, value: whole } });
      expect(play.state.holds.get('1')?.reason).toBe('blocked_by');
    }
    const told = play.everTold('issue:candidate:held').filter((notice) => JSON.stringify(notice).includes('"blocked_by"'));
    expect(told).toHaveLength(1);
  });

  it('is not taken by one that is found to be blocked, which is told once', () => {
    const play = player(1);
    play.poll(issues());
    handOffAll(play, '1');
    const blocked = issueWith({ id: '2', blockedBy: [{ id: '9', identifier: 'T-9', state: 'todo' }] });
    play.send({ type: 'candidate-read', issueId: '2', issue: { ok: true, value: blocked } });
    const facts = { issue: { id: '2' }, reason: 'blocked_by', detail: 'blocked by T-9' };
    expect(play.everTold('issue:candidate:held').at(-1)).toMatchObject({ facts });
    expect(play.state.holds.get('2')).toMatchObject({ reason: 'blocked_by', since: play.now });
  });

  it('costs at most four reads while the tracker does not answer', () => {
    const play = player(1);
    play.poll(issues());
    handOffAll(play, '1');
    const read: string[] = [];
    for (let asked = play.asked('read-candidate'); asked.length > 0; asked = play.asked('read-candidate')) {
      for (const { issue } of asked) {
        read.push(issue.id);
        play.send({ type: 'candidate-read', issueId: issue.id, issue: { ok: false, fault } });
      }
    }
    expect(read).toEqual(['2', '3', '4', '5']);
  });

  it('goes on filling all slots where the list lacks blockers, not four a poll', () => {
    const play = player(8);
    play.poll(issues(() => ({ blockedBy: null })));
    expect(play.asked('read-blockers').map(({ issues }) => issues.length)).toEqual([4]);
    const four = play.asked('read-blockers')[0]?.issues ?? [];
    play.send({ type: 'blockers-answered', blockers: new Map(four.map(({ id }) => [id, { ok: true, value: [] }])) });
    for (const { issue } of play.asked('read-candidate'))
      play.send({
        type: 'candidate-read',
        issueId: issue.id,
        issue: { ok: true, value: issueWith({ id: issue.id, blockedBy: [] }) },
      });
    expect(play.state.live.size).toBe(8);
  });

  it.each([
    ['cannot be read', { ok: false, fault }, 'it failed'],
    ['does not tell its blockers', { ok: true, value: issueWith({ id: '5', blockedBy: null }) }, 'an incomplete list'],
  ] as const)('is not taken by one that %s, which is told at once', (_name, answer, why) => {
    const play = player(5);
    play.poll(issues(() => ({ blockedBy: null })).slice(0, 5));
    const four = play.asked('read-blockers')[0]?.issues ?? [];
    play.send({ type: 'blockers-answered', blockers: new Map(four.map(({ id }) => [id, { ok: true, value: [] }])) });
    expect(play.asked('read-candidate').map(({ issue }) => issue.id)).toEqual(['5']);
    play.send({ type: 'candidate-read', issueId: '5', issue: answer });
    const told = { reason: 'blockers_unresolved', detail: expect.stringContaining(why) as string };
    expect(play.everTold('issue:candidate:held').at(-1)?.facts).toMatchObject(told);
    expect(play.state.holds.get('5')).toMatchObject(told);
  });

  it('goes on being filled when a poll started what was being read for it', () => {
    const play = player(6);
    play.poll(manyIssues(30));
    play.after(30_000);
    for (const id of ['1', '2', '3', '4', '5', '6']) handOffAll(play, id);
    const reading = [...(play.state.pending['read-candidate']?.keys() ?? [])];
    expect(reading).toEqual(['7', '8', '9', '10', '11', '12']);
    play.poll(manyIssues(30).slice(6));
    expect([...play.state.live.keys()]).toEqual(reading);
    for (const id of reading) play.send({ type: 'candidate-read', issueId: id, issue: { ok: true, value: issueWith({ id }) } });
    expect(snapshotOf(play.state, play.now).holds.map(({ issue }) => issue.id)).not.toContain('7');
    handOffAll(play, '7');
    expect(play.asked('read-candidate').map(({ issue }) => issue.id)).toEqual(['13']);
  });

  it('is not given to an issue as it was before the run that has ended since', () => {
    const play = player(1);
    play.poll(issues());
    handOffAll(play, '1');
    expect(play.asked('read-candidate').map(({ issue }) => issue.id)).toEqual(['2']);
    play.poll(issues().slice(1));
    handOffAll(play, '2');
    play.send({ type: 'candidate-read', issueId: '2', issue: { ok: true, value: issueWith({ id: '2' }) } });
    expect(play.everAsked('start-run').filter(({ plan }) => plan.issue.id === '2')).toHaveLength(1);
  });

  it('goes on being filled when others took the slots that blockers were read for', () => {
    const play = player(4);
    play.poll(manyIssues(4));
    play.after(30_000);
    for (const id of ['1', '2', '3', '4']) handOffAll(play, id);
    const listed = manyIssues(30).map((issue) => ({ ...issue, blockedBy: null }));
    play.poll(listed.slice(4));
    const read = (play.asked('read-blockers')[0]?.issues ?? []).map(({ id }) => id);
    expect(read).toEqual(['5', '6', '7', '8']);
    play.send({ type: 'sessions-elsewhere', running: 4 });
    play.send({ type: 'blockers-answered', blockers: new Map(read.map((id) => [id, { ok: true, value: [] }])) });
    expect(play.state.live.size).toBe(0);
    play.send({ type: 'sessions-elsewhere', running: 0 });
    expect(play.asked('read-candidate').map(({ issue }) => issue.id)).toEqual(read);
  });

  it('goes to a due retry before a new issue', () => {
    const play = player(1);
    play.poll(issues());
    play.exit('1', { kind: 'error', fault });
    expect(answerReads(play, (id) => issueWith({ id }))).toEqual(['2']);
    play.now += 60_000;
    handOffAll(play, '2');
    expect(play.asked('read-issue').map(({ issueId }) => issueId)).toEqual(['1']);
    expect(play.asked('read-candidate')).toEqual([]);
  });
});

describe('a state that has no slot left', () => {
  it('brings no poll forward', () => {
    const play = player(10, { todo: 2 });
    play.poll(manyIssues(30));
    expect(play.state.live.size).toBe(2);
    const { nextAt } = play.state.poll;
    expect(nextAt).toBe(play.now + play.state.settings.polling.intervalMs);
    play.after(2_000);
    expect(play.state.poll.nextAt).toBe(nextAt);
  });

  it('is filled at once whenever one is free, with one read for each', () => {
    const play = player(10, { todo: 2 });
    play.poll(manyIssues(30));
    for (let number = 1; number <= 20; number += 1) {
      handOffAll(play, String(number));
      const next = String(number + 2);
      expect([...(play.state.pending['read-candidate']?.keys() ?? [])]).toEqual([next]);
      play.send({ type: 'candidate-read', issueId: next, issue: { ok: true, value: issueWith({ id: next }) } });
      expect(play.state.live.size).toBe(2);
    }
  });

  it('keeps no other state waiting, and has its turn before those that come later', () => {
    const play = player(2, { todo: 1 });
    play.poll(issues((id) => ({ state: Number(id) <= 4 ? 'todo' : 'doing' })));
    expect([...play.state.live.keys()]).toEqual(['1', '5']);
    handOffAll(play, '5');
    expect(answerReads(play, (id) => issueWith({ id, state: 'doing' }))).toEqual(['6']);
    handOffAll(play, '1');
    expect(answerReads(play, (id) => issueWith({ id }))).toEqual(['2']);
  });
});

describe('the reason shown for a candidate', () => {
  it('is what holds now: never a full house beside a free slot', () => {
    const play = player(1);
    play.poll(issues());
    expect(reasons(play)).toEqual(Array(7).fill('no_global_slot'));
    handOffAll(play, '1');
    for (let asked = ['']; asked.length > 0;) asked = [...answerReads(play, () => null)];
    expect(snapshotOf(play.state, play.now).slots.available).toBe(1);
    expect(new Set(reasons(play))).toEqual(new Set(['next_poll']));
  });

  function reasons(play: Player): readonly string[] {
    return snapshotOf(play.state, play.now).holds.map((hold) => hold.reason);
  }
});

describe('a due retry without a slot', () => {
  it('is not read, keeps its error and does not wake the daemon', () => {
    const play = player(1);
    play.poll(issues());
    play.exit('1', { kind: 'error', fault });
    answerReads(play, (id) => issueWith({ id }));
    play.after(20_000);
    expect(play.asked('read-issue')).toEqual([]);
    expect(play.state.claims.get('1')).toMatchObject({ phase: 'waiting', error: 'it failed' });
    expect(nextWake(play.state)).toBeGreaterThan(play.now);
  });

  it('waits for a slot of its own state without reading', () => {
    const play = player(3, { todo: 1 });
    play.poll([issueWith({ id: '1' }), issueWith({ id: '2' })]);
    play.exit('1', { kind: 'error', fault });
    answerReads(play, (id) => issueWith({ id }));
    play.poll([issueWith({ id: '2' })], {});
    expect([...play.state.live.keys()]).toEqual(['2']);
    play.after(20_000);
    expect(play.asked('read-issue')).toEqual([]);
    handOffAll(play, '2');
    expect(play.asked('read-issue').map(({ issueId }) => issueId)).toEqual(['1']);
  });

  it('whose fault no waiting heals is due at once when the workflow file is edited', () => {
    const play = waitingAfter({ kind: 'template_error', message: 'bad', consequence: 'back-off-at-cap' });
    play.send({ type: 'settings-changed', settings: play.state.settings });
    expect(play.asked('read-issue').map(({ issueId }) => issueId)).toEqual(['1']);
  });

  it('whose handoff the tracker cannot take is tried at once when the workflow file is edited', () => {
    const play = player(1);
    play.poll([issueWith({ id: '1' })]);
    play.exit('1');
    const runId = play.asked('hand-off')[0]?.handoff.runId ?? '';
    const refused = { kind: 'tracker_payload_error', message: 'no such state', consequence: 'back-off-at-cap' } as const;
    play.send({ type: 'handoff-answered', issueId: '1', runId, outcome: { kind: 'failed', fault: refused } });
    play.send({ type: 'settings-changed', settings: play.state.settings });
    play.after(0);
    expect(play.everAsked('hand-off')).toHaveLength(2);
  });

  it.each<[name: string, fault: Fault, isSame: boolean]>([
    ['an edit that says the same', { kind: 'template_error', message: 'bad', consequence: 'back-off-at-cap' }, true],
    [
      'an edit while a limit of the agent lasts',
      { kind: 'agent_usage_limit', message: 'limit', consequence: 'pause-agent' },
      false,
    ],
    ['an edit while it backs off as long as the cap', fault, false],
  ])('waits its time through %s', (_name, last, isSame) => {
    const play = waitingAfter(last, 1_000);
    const before = play.state.claims.get('1');
    play.send({ type: 'settings-changed', settings: play.state.settings, isSame });
    expect(play.state.claims.get('1')).toEqual(before);
    expect(play.asked('read-issue')).toEqual([]);
  });

  it('whose later fault heals by itself no longer waits for an edit', () => {
    const play = waitingAfter({ kind: 'template_error', message: 'bad', consequence: 'back-off-at-cap' });
    play.after(400_000);
    play.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: issueWith({ id: '1' }) } });
    play.exit('1', { kind: 'error', fault });
    play.send({ type: 'settings-changed', settings: play.state.settings });
    expect(play.asked('read-issue')).toEqual([]);
  });

  function waitingAfter(last: Fault, capMs = 300_000): Player {
    const play = createPlayer(settingsWith({ agent: { maxConcurrentAgents: 1, maxRetryBackoffMs: capMs } }));
    play.poll([issueWith({ id: '1' })]);
    play.exit('1', { kind: 'error', fault: last });
    play.after(500);
    expect(play.asked('read-issue')).toEqual([]);
    return play;
  }
});

describe('a due retry that is being read', () => {
  const due = (byState: Record<string, number> = {}, slots = 1): Player => {
    const play = player(slots, byState);
    play.poll([issueWith({ id: '1' })]);
    play.exit('1', { kind: 'error', fault });
    play.after(20_000);
    expect(play.asked('read-issue').map(({ issueId }) => issueId)).toEqual(['1']);
    return play;
  };

  it('keeps its slot from the candidates of a poll that ends first', () => {
    const play = due();
    play.poll(issues());
    expect([...play.state.live.keys()]).toEqual([]);
    expect(play.state.holds.get('2')).toMatchObject({
      reason: 'no_global_slot',
      detail: 'a retry that is due has the free slot',
    });
    play.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: issueWith({ id: '1' }) } });
    expect([...play.state.live.keys()]).toEqual(['1']);
  });

  it('keeps its slot of a state, and none of another', () => {
    const play = due({ todo: 1 }, 3);
    play.poll(issues((id) => ({ state: id === '3' ? 'doing' : 'todo' })));
    expect([...play.state.live.keys()]).toEqual(['3']);
    expect(play.state.holds.get('2')).toMatchObject({ reason: 'no_state_slot' });
  });

  it('leaves the slot to them when it is let go', () => {
    const play = due();
    play.poll(issues());
    play.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: null } });
    expect(answerReads(play, (id) => issueWith({ id }))).toEqual(['2']);
    expect([...play.state.live.keys()]).toEqual(['2']);
  });
});

describe('an issue that was worked on before', () => {
  const handedOff = (): Player => {
    const play = player(1);
    play.poll([issueWith({ id: '1' })]);
    handOffAll(play, '1');
    return play;
  };
  const listedStill = {
    ok: true,
    value: [issueWith({ id: '1' }), issueWith({ id: '2', createdAt: '2027-01-01T00:00:00Z' })],
  } as const;

  function pollThatLags(play: Player): void {
    play.now = play.state.poll.nextAt;
    play.send({ type: 'clock' });
    play.send({ type: 'poll-answered', candidates: listedStill, states: { ok: true, value: new Map() }, preflightProblem: null });
  }

  it('is not taken up again from a list that lags behind its handoff', () => {
    const play = handedOff();
    pollThatLags(play);
    expect(play.asked('start-run')).toEqual([]);
    expect(play.state.holds.get('1')).toMatchObject({ reason: 'read_again' });
    answerReads(play, (id) => issueWith({ id, state: 'review' }));
    expect([play.state.live.has('1'), play.state.holds.has('1')]).toEqual([false, false]);
    expect(play.told('issue:candidate:held')).toEqual([]);
    answerReads(play, (id) => issueWith({ id }));
    expect([...play.state.live.keys()]).toEqual(['2']);
    expect(play.state.spent.get('1')?.sessions ?? 1).toBe(1);
  });

  it('keeps its place before those that come after it, and runs as it was read', () => {
    const play = handedOff();
    pollThatLags(play);
    expect(play.state.holds.get('2')).toMatchObject({
      reason: 'no_global_slot',
      detail: 'an issue that is being read has the free slot',
    });
    answerReads(play, (id) => issueWith({ id, description: 'handed back' }));
    expect(play.asked('start-run').map(({ plan }) => [plan.issue.id, plan.issueAsRead?.description])).toEqual([
      ['1', 'handed back'],
    ]);
  });

  it('keeps its place among those of its state, too', () => {
    const play = player(5, { todo: 1 });
    play.poll([issueWith({ id: '1' })]);
    handOffAll(play, '1');
    pollThatLags(play);
    expect(play.state.holds.get('2')).toMatchObject({ reason: 'no_state_slot' });
    expect(play.state.live.size).toBe(0);
  });

  it('tells why it does not start when it cannot be read', () => {
    const play = handedOff();
    pollThatLags(play);
    play.send({
      type: 'candidate-read',
      issueId: '1',
      issue: { ok: false, fault: { ...fault, message: 'the tracker said 502' } },
    });
    expect(play.state.holds.get('1')?.detail).toContain('tried again at the next poll: the tracker said 502');
  });
});
