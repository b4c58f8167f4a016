import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith, refWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { NOTHING_DURABLE } from '../model/durable.ts';
import { refOf, type Issue } from '../model/issue.ts';
import type { Hold } from '../model/hold.ts';
import { listOf, withEntry } from '../model/versioned-map.ts';
import { inDispatchOrder } from '../rules/dispatch-order.ts';
import { holdOf } from '../rules/dispatch-filters.ts';

function manyIssues(count: number): readonly Issue[] {
  return Array.from({ length: count }, (_, index) =>
    issueWith({
      id: String(index),
      priority: (index * 7) % 5,
      createdAt: new Date(Date.UTC(2026, 0, 1) + ((index * 7919) % 100_003) * 1000).toISOString(),
    }),
  );
}

describe('a poll of many candidates', () => {
  it('is walked in slices, so that everything else gets its turn', () => {
    const play = createPlayer();
    play.send({ type: 'clock' });
    const states = { ok: true, value: new Map<string, string>() } as const;
    const candidates = { ok: true, value: inDispatchOrder(manyIssues(10_000)) } as const;
    play.send({ type: 'poll-answered', candidates, states, preflightProblem: null });
    let slices = 1;
    for (; play.asked('go-on').length > 0; slices += 1) play.send({ type: 'went-on' });
    expect(slices).toBe(5);
    expect(play.state.live.size).toBe(3);
    expect(play.state.holds.size).toBe(9_997);
    expect(play.told('poll:tick:completed')).toMatchObject([{ facts: { candidates: 10_000, dispatched: 3 } }]);
  });

  it('that finds them as they were keeps what it knows of each', () => {
    const play = createPlayer();
    const pollWhole = (issues: readonly Issue[]): void => {
      play.poll(issues);
      while (play.asked('go-on').length > 0) play.send({ type: 'went-on' });
    };
    pollWhole(manyIssues(5_000));
    pollWhole(manyIssues(5_000));
    const { holds } = play.state;
    pollWhole(manyIssues(5_000));
    expect(play.state.holds).toBe(holds);
    const fewer = inDispatchOrder(manyIssues(5_000)).filter((_, index) => index % 700 !== 5);
    pollWhole(fewer);
    expect(listOf(play.state.holds)).toEqual(listOf(holds).filter((_, index) => index % 700 !== 5));
    expect(listOf(play.state.holds)[4_000]).toBe(holds.get(listOf(play.state.holds)[4_000]?.issue.id ?? ''));
  });

  it('tells a few holds of each reason and counts the rest', () => {
    const play = createPlayer();
    play.poll(manyIssues(500));
    expect(play.told('issue:candidate:held')).toHaveLength(20);
    expect(play.told('poll:candidates:held')).toMatchObject([{ facts: { reason: 'no_global_slot', candidates: 477 } }]);
  });

  it('that is answered after the stop dispatches and tells nothing', () => {
    const play = createPlayer();
    play.send({ type: 'clock' });
    play.send({ type: 'stop-requested' });
    const states = { ok: true, value: new Map() } as const;
    const candidates = { ok: true, value: manyIssues(500) } as const;
    play.send({ type: 'poll-answered', candidates, states, preflightProblem: null });
    expect(play.told('issue:candidate:held')).toEqual([]);
    expect(play.asked('start-run')).toEqual([]);
  });
});

/** What a tracker lists at one poll: the states of some of its issues, and which of them is written anew. */
const listing = fc.record({
  states: fc.array(fc.constantFrom('todo', 'doing', 'elsewhere', null), { minLength: 40, maxLength: 40 }),
  renamed: fc.nat({ max: 39 }),
  ended: fc.option(fc.nat({ max: 39 }), { nil: null }),
});

describe('the holds of one poll after the other', () => {
  it('are what each candidate would be held for by itself, since it began', () => {
    fc.assert(
      fc.property(fc.array(listing, { maxLength: 8 }), (listings) => {
        const play = createPlayer();
        const since = new Map<string, Pick<Hold, 'reason' | 'since'>>();
        for (const { states, renamed, ended } of listings) {
          if (ended !== null) {
            play.exit(String(ended));
            // What is released in a state that is not worked on is held for nothing until it is listed again.
            if (!play.state.holds.has(String(ended))) since.delete(String(ended));
          }
          const listed = states.flatMap((state, index) => (state === null ? [] : [candidate(index, state, index === renamed)]));
          play.poll(listed);
          const expected = inDispatchOrder(listed).flatMap((issue) => expectedHold(play, issue, since));
          expect([...play.state.holds.values()]).toEqual(expected);
          expect(expected.every((hold, index) => play.state.holds.get(hold.issue.id) === listOf(play.state.holds)[index])).toBe(
            true,
          );
          since.clear();
          for (const { issue, ...hold } of expected) since.set(issue.id, hold);
        }
      }),
      { numRuns: 30 },
    );
  });
});

function candidate(index: number, state: string, isRenamed: boolean): Issue {
  return issueWith({ id: String(index), state, priority: index % 3, ...(isRenamed && { title: `Written anew ${index}` }) });
}

/** None for what was started just now. */
function expectedHold(player: Player, issue: Issue, since: ReadonlyMap<string, Pick<Hold, 'reason' | 'since'>>): Hold[] {
  const { state, now } = player;
  if (state.live.get(issue.id)?.startedAt === now) return [];
  const verdict = holdOf(player, issue, undefined);
  if (verdict === null) throw new Error('it may run and was not started');
  const before = since.get(issue.id);
  // While an issue is read again the slot that is kept for it is not taken yet: what is said of it is told in other words.
  const told = state.holds.get(issue.id);
  return [
    {
      issue: refOf(issue),
      ...verdict,
      ...(verdict.reason === told?.reason && told.reason === 'no_global_slot' ? { detail: told.detail } : {}),
      since: before?.reason === verdict.reason ? before.since : now,
    },
  ];
}

describe('a poll that is older than what happened meanwhile', () => {
  it.each([
    { outcome: { kind: 'succeeded' }, reason: undefined },
    { outcome: { kind: 'moved', state: 'todo' }, reason: 'just_released' },
  ] as const)('does not start again what was released after it began ($outcome.kind)', ({ outcome, reason }) => {
    const player = createPlayer();
    player.poll([issueWith({ id: '1' })]);
    player.now = player.state.poll.nextAt;
    player.send({ type: 'clock' });
    player.exit('1');
    player.send({ type: 'handoff-answered', issueId: '1', runId: 'run-1', outcome });
    player.send({
      type: 'poll-answered',
      candidates: { ok: true, value: [issueWith({ id: '1' })] },
      states: { ok: true, value: new Map([['1', 'todo']]) },
      preflightProblem: null,
    });
    expect(player.asked('start-run')).toHaveLength(0);
    expect(player.state.holds.get('1')?.reason).toBe(reason);
    player.poll([issueWith({ id: '1' })]);
    expect(player.asked('start-run')).toHaveLength(1);
  });

  it('does not release what was parked after it began, in the state its run had moved it to', () => {
    const player = createPlayer();
    player.poll([issueWith({ id: '1', state: 'todo' })]);
    player.now = player.state.poll.nextAt;
    player.send({ type: 'clock' });
    player.send({ type: 'state-seen', issueId: '1', runId: 'run-1', state: 'in progress' });
    player.exit('1', { kind: 'error', fault: { kind: 'delivery_error', message: 'protected', consequence: 'park' } });
    player.send({
      type: 'poll-answered',
      candidates: { ok: true, value: [issueWith({ id: '1', state: 'todo' })] },
      states: { ok: true, value: new Map([['1', 'todo']]) },
      preflightProblem: null,
    });
    expect(player.state.parked.has('1')).toBe(true);
    player.poll([issueWith({ id: '1', state: 'in progress' })], { 1: 'in progress' });
    expect(player.everAsked('start-run')).toHaveLength(1);
    player.poll([issueWith({ id: '1', state: 'todo' })], { 1: 'todo' });
    expect(player.state.parked.has('1')).toBe(false);
  });
});

describe('a parked issue', () => {
  const parkedAt = (ids: readonly string[]): Player => {
    const parked = ids.map((id) => ({
      issue: refWith({ id }),
      reason: 'blocked' as const,
      detail: '',
      parkedAt: 0,
      stateAtPark: 'doing',
    }));
    return createPlayer(settingsWith(), { ...NOTHING_DURABLE, parked });
  };

  it.each([
    ['shows its state of then', { 1: 'doing' }],
    ['does not find it', {}],
  ])('stays so when a list that is behind shows an older state and the lookup %s', (_, states) => {
    const player = parkedAt(['1']);
    player.poll([issueWith({ id: '1', state: 'todo' })], states);
    expect(player.state.parked.get('1')?.stateAtPark).toBe('doing');
    expect(player.asked('start-run')).toEqual([]);
    player.poll([issueWith({ id: '1', state: 'doing' })], { 1: 'todo' });
    expect(player.state.parked.has('1')).toBe(false);
  });

  it('that the list shows in another state is looked up before the others', () => {
    const ids = Array.from({ length: 100 }, (_, index) => String(index));
    const player = parkedAt(ids);
    const listed = [issueWith({ id: '77', state: 'todo' }), issueWith({ id: '78', state: 'doing' })];
    player.poll(listed, {});
    player.now = player.state.poll.nextAt;
    player.send({ type: 'clock' });
    const lookups = player.asked('poll')[0]?.lookups ?? [];
    expect(lookups).toHaveLength(20);
    expect(lookups.slice(0, 2)).toEqual(['77', '20']);
    player.send({
      type: 'poll-answered',
      candidates: { ok: true, value: listed },
      states: { ok: true, value: new Map([['77', 'todo']]) },
      preflightProblem: null,
    });
    expect(player.asked('start-run')).toMatchObject([{ plan: { issue: { id: '77' } } }]);
  });
});

it.each([
  ['a while', 90_000, 90_000],
  ['for ever', 9_999_999_000, 3_600_000],
])('a remote that asks to be left alone %s is asked again, after an hour at the latest', (_, retryAfterMs, waitMs) => {
  const player = createPlayer();
  player.send({ type: 'clock' });
  const fault = { kind: 'tracker_api_error', message: 'slow down', consequence: 'back-off', retryAfterMs } as const;
  player.send({
    type: 'poll-answered',
    candidates: { ok: false, fault },
    states: { ok: true, value: new Map() },
    preflightProblem: null,
  });
  expect(player.state.poll.nextAt - player.now).toBe(waitMs);
  player.send({ type: 'polls-postponed', byMs: retryAfterMs, error: 'slow down', remedy: null });
  expect(player.state.poll.nextAt - player.now).toBe(waitMs);
});

it('a poll that could not look a running issue up is none of two in a row that did not find it', () => {
  const player = createPlayer();
  player.poll([issueWith({ id: '1' })]);
  player.poll([], {});
  player.now = player.state.poll.nextAt;
  player.send({ type: 'clock' });
  const fault = { kind: 'tracker_transport_error', message: 'away', consequence: 'back-off' } as const;
  player.send({
    type: 'poll-answered',
    candidates: { ok: true, value: [] },
    states: { ok: false, fault },
    preflightProblem: null,
  });
  player.poll([], {});
  expect(player.everAsked('stop-run')).toEqual([]);
  player.poll([], {});
  expect(player.everAsked('stop-run')).toHaveLength(1);
});

it('issues that nothing is known of stay as they are, and the others are held against what was read', () => {
  const player = createPlayer();
  player.poll([issueWith({ id: '1' }), issueWith({ id: '2' })]);
  for (let polls = 0; polls < 3; polls += 1) {
    player.now = player.state.poll.nextAt;
    player.send({ type: 'clock' });
    player.send({
      type: 'poll-answered',
      candidates: { ok: true, value: [] },
      states: { ok: true, value: new Map([['1', polls === 0 ? 'todo' : 'done']]) },
      unknown: new Set(['2']),
      preflightProblem: null,
    });
  }
  expect(player.everAsked('stop-run')).toMatchObject([{ issueId: '1', reason: 'terminal' }]);
});

it('a running issue that the list of the poll shows goes on, though the lookup does not find it', () => {
  const player = createPlayer();
  const issue = issueWith({ id: '1' });
  player.poll([issue]);
  for (let polls = 0; polls < 4; polls += 1) player.poll([issue], {});
  expect(player.everAsked('stop-run')).toEqual([]);
  player.poll([], {});
  player.poll([], {});
  expect(player.everAsked('stop-run')).toMatchObject([{ reason: 'vanished' }]);
});

describe('an issue that waits for its next try', () => {
  const fault = { kind: 'turn_failed', message: 'agent: turn_failed: 500', consequence: 'back-off' } as const;
  /** Failed, with a long wait ahead; polls go on as often as it takes for a sweep. */
  const waiting = (): Player => {
    const player = createPlayer(settingsWith({ agent: { maxRetryBackoffMs: 86_400_000 } }));
    player.poll([issueWith({ id: '1' })]);
    player.send({ type: 'run-prepared', issueId: '1', runId: 'run-1', workspacePath: '/w/T-1' });
    player.exit('1', { kind: 'error', fault });
    const claim = player.state.claims.get('1');
    if (claim?.phase === 'waiting')
      player.state = { ...player.state, claims: withEntry(player.state.claims, '1', { ...claim, dueAt: Infinity }) };
    return player;
  };
  const sweep = (player: Player, states: ReadonlyMap<string, string> | null): void => {
    const before = player.everAsked('sweep').length;
    while (player.everAsked('sweep').length === before) player.poll([], {});
    expect(player.everAsked('sweep').at(-1)).toMatchObject({ waiting: ['1'] });
    const answer = states === null ? ({ ok: false, fault } as const) : ({ ok: true, value: states } as const);
    player.send({ type: 'sweep-answered', states: answer, missing: [], waiting: ['1'] });
  };

  it('is let go when it is finished meanwhile, and its workspace removed', () => {
    const player = waiting();
    sweep(player, new Map([['1', 'todo']]));
    expect(player.state.claims.has('1')).toBe(true);
    sweep(player, new Map([['1', 'done']]));
    expect(player.state.claims.has('1')).toBe(false);
    expect(player.everAsked('remove-workspace')).toMatchObject([{ issueId: '1' }]);
  });

  it('is let go when its time comes and somebody has closed it, and its workspace stays', () => {
    const player = createPlayer();
    player.poll([issueWith({ id: '1' })]);
    player.exit('1', { kind: 'error', fault });
    player.after(60_000);
    expect(player.asked('read-issue')).toHaveLength(1);
    player.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: issueWith({ id: '1', isClosed: true }) } });
    expect(player.asked('start-run')).toEqual([]);
    expect(player.told('issue:claim:released')).toMatchObject([{ facts: { reason: 'the issue is closed' } }]);
    expect(player.state.claims.size).toBe(0);
    expect(player.everAsked('remove-workspace')).toEqual([]);
  });

  it('is let go when two looks in a row do not find it, and its workspace stays', () => {
    const player = waiting();
    for (const states of [new Map<string, string>(), null, new Map<string, string>()]) sweep(player, states);
    expect(player.state.claims.has('1')).toBe(true);
    sweep(player, new Map());
    expect(player.state.claims.has('1')).toBe(false);
    expect(player.everAsked('remove-workspace')).toEqual([]);
  });

  it('is the only one that costs a look where no workspace lies about', () => {
    const player = createPlayer();
    for (let polls = 0; polls < 25; polls += 1) player.poll([]);
    expect(player.everAsked('sweep')).toEqual([]);
  });
});
