import { describe, expect, it } from 'vitest';
import { createPlayer } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import type { Issue } from '../model/issue.ts';
import { inOrder } from '../../orchestrator/in-order.ts';

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
  it('is walked in slices, so that everything else gets its turn', async () => {
    const play = createPlayer();
    play.send({ type: 'clock' });
    const states = { ok: true, value: new Map<string, string>() } as const;
    const candidates = { ok: true, value: await inOrder(manyIssues(10_000)) } as const;
    play.send({ type: 'poll-answered', candidates, states, preflightProblem: null });
    let slices = 1;
    for (; play.asked('go-on').length > 0; slices += 1) play.send({ type: 'went-on' });
    expect(slices).toBe(5);
    expect(play.state.live.size).toBe(3);
    expect(play.state.holds.size).toBe(9_997);
    expect(play.told('poll:tick:completed')).toMatchObject([{ facts: { candidates: 10_000, dispatched: 3 } }]);
  });

  it('puts a long list in the same order as a short one', async () => {
    const issues = manyIssues(5_000);
    const long = await inOrder(issues);
    const play = createPlayer();
    play.poll(issues.slice(0, 50));
    const started = [...play.state.live.keys()];
    expect(started).toEqual(
      long
        .filter((issue) => Number(issue.id) < 50)
        .slice(0, 3)
        .map((issue) => issue.id),
    );
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
