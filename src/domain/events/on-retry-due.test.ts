import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { BASE, ci, look, watching } from '../../../test/support/watched.ts';
import { NOTHING_DURABLE } from '../model/durable.ts';
import type { Issue } from '../model/issue.ts';

const OPEN_BLOCKER = { id: '9', identifier: 'T-9', state: 'todo' };
const FAILED = { kind: 'error', fault: { kind: 'turn_failed', message: 'broken', consequence: 'back-off' } } as const;

/** One that waits in the retry queue, by what put it there. */
const WAITING: Readonly<Record<string, () => Player>> = {
  'a failed run': () => failed(),
  'a continuation': () => {
    const play = createPlayer(settingsWith({ tracker: { handoffState: null } }));
    play.poll([issueWith({ id: '1' })]);
    play.exit('1');
    return play;
  },
  'a restart of the service': () => {
    const before = createPlayer();
    before.poll([issueWith({ id: '1' })]);
    return createPlayer(settingsWith(), { ...NOTHING_DURABLE, claims: [...before.state.claims.values()] });
  },
  'a reaction': () => {
    const play = watching({ ci_failure: { ...BASE, maxLogLines: 5 } });
    look(play, { ci: ci('failing') });
    return play;
  },
  'a person who asked for a retry': () => {
    const play = failed();
    play.operator({ kind: 'retry', identifier: 'T-1' });
    return play;
  },
  'a slot that became free': () => {
    const play = createPlayer(settingsWith({ agent: { maxConcurrentAgents: 1 } }));
    play.poll([issueWith({ id: '1' }), issueWith({ id: '2' })]);
    play.exit('1', FAILED);
    play.send({ type: 'candidate-read', issueId: '2', issue: { ok: true, value: issueWith({ id: '2' }) } });
    play.after(20_000);
    expect(play.everAsked('read-issue')).toEqual([]);
    play.exit('2');
    const runId = play.asked('hand-off')[0]?.handoff.runId ?? '';
    play.send({ type: 'handoff-answered', issueId: '2', runId, outcome: { kind: 'succeeded' } });
    return play;
  },
};

function failed(): Player {
  const play = createPlayer();
  play.poll([issueWith({ id: '1' })]);
  play.exit('1', FAILED);
  return play;
}

/** The tracker tells the waiting issue once its time has come. */
function readDue(play: Player, parts: Partial<Issue>): void {
  const claim = play.state.claims.get('1');
  if (claim?.phase === 'waiting') play.after(Math.max(0, claim.dueAt - play.now));
  expect(play.everAsked('read-issue').at(-1)?.issueId).toBe('1');
  const { state } = play.state.claims.get('1')?.issue ?? {};
  play.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: issueWith({ id: '1', state, ...parts }) } });
}

function reasonsTold(play: Player): readonly unknown[] {
  const facts = play.everTold('issue:candidate:held').map((notice) => notice.facts);
  return facts.flatMap((one) => ('reason' in one && one.reason !== 'retrying' ? [one.reason] : []));
}

describe('a waiting issue whose blockers cannot be read', () => {
  it.each(Object.entries(WAITING))('after %s does not start, and is read again at the next poll', (_name, waiting) => {
    const play = waiting();
    readDue(play, { blockedBy: null });
    expect(play.state.live.has('1')).toBe(false);
    expect(play.state.claims.get('1')).toMatchObject({
      phase: 'waiting',
      dueAt: play.now + 30_000,
      error: expect.stringContaining('blockers_unresolved: its blockers could not be read'),
    });
    readDue(play, { blockedBy: [] });
    expect(play.state.live.has('1')).toBe(true);
  });
});

describe('a waiting issue that there is nothing left to do for', () => {
  const away = (issue: Issue | null) => (play: Player) => {
    play.after(20_000);
    play.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: issue } });
  };

  it.each<[reason: string, leave: (play: Player) => void]>([
    ['the issue moved to "elsewhere"', away(issueWith({ id: '1', state: 'elsewhere' }))],
    ['the issue is terminal', away(issueWith({ id: '1', state: 'done' }))],
    ['the tracker no longer has the issue', away(null)],
    [
      'issues in state "todo" are no longer worked on (tracker.active_states)',
      (play) => {
        const tracker = { ...play.state.settings.tracker, activeStates: ['ready'] };
        play.send({ type: 'settings-changed', settings: { ...play.state.settings, tracker } });
        away(issueWith({ id: '1', state: 'todo' }))(play);
      },
    ],
  ])('leaves the queue with a word: %s', (reason, leave) => {
    const play = failed();
    leave(play);
    expect(play.state.claims.size).toBe(0);
    expect(play.everTold('retry:entry:dropped')).toMatchObject([{ facts: { issue: { id: '1' }, attempt: 1, reason } }]);
  });

  it('tells of a turn of a reaction as of a turn, not twice', () => {
    const play = WAITING['a reaction']!();
    readDue(play, { state: 'elsewhere' });
    expect(play.state.claims.size).toBe(0);
    expect(play.everTold('reaction:turn:dropped')).toHaveLength(1);
    expect(play.everTold('retry:entry:dropped')).toEqual([]);
  });
});

describe('a waiting issue that is blocked', () => {
  it.each([
    ['blocked_by', [OPEN_BLOCKER]],
    ['blockers_unresolved', null],
  ] as const)('is told once with %s, shown and counted with it at each poll', (reason, blockedBy) => {
    const play = failed();
    play.poll([issueWith({ id: '1' })]);
    expect(play.state.holds.get('1')?.reason).toBe('retrying');
    for (let times = 0; times < 3; times += 1) {
      readDue(play, { blockedBy });
      expect(play.state.holds.get('1')?.reason).toBe(reason);
      play.poll([issueWith({ id: '1', blockedBy })]);
      expect(play.told('poll:holds:counted')).toMatchObject([{ facts: { counts: { [reason]: 1 } } }]);
    }
    expect(reasonsTold(play)).toEqual([reason]);
  });

  it('is not counted again with those that are held without a place in the queue', () => {
    const play = failed();
    readDue(play, { blockedBy: [OPEN_BLOCKER] });
    play.poll([issueWith({ id: '1', blockedBy: [OPEN_BLOCKER] }), issueWith({ id: '2', blockedBy: [OPEN_BLOCKER] })]);
    expect(play.told('poll:tick:completed')).toMatchObject([{ facts: { held: { blocked_by: 1 } } }]);
  });

  it('keeps its attempt and its place, and starts when nothing blocks it any more', () => {
    const play = failed();
    const { attempt } = play.state.claims.get('1') ?? {};
    readDue(play, { blockedBy: [OPEN_BLOCKER] });
    readDue(play, { blockedBy: [{ ...OPEN_BLOCKER, state: 'done' }] });
    expect(play.state.claims.get('1')).toMatchObject({ phase: 'running', attempt });
  });
});
