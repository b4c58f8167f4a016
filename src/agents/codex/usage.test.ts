import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readNote } from './parse.ts';
import { createUsage, type Usage } from './usage.ts';

const times = (count: number) => ({ inputTokens: 100 * count, outputTokens: 10 * count, cachedInputTokens: 40 * count });
const report = (count: number) => ({ total: times(count), last: times(1) });

function usageOf(turns: readonly string[], freshThread: string | null = 'T'): Usage {
  const usage = createUsage();
  if (freshThread !== null) usage.threadBegan(freshThread);
  for (const turn of turns) usage.turnStarted(turn);
  return usage;
}

function inputOf(usage: Usage): number | undefined {
  return usage.event()?.tokens.inputTokens;
}

describe('the figures of a run', () => {
  it('are unknown until something is reported', () => {
    expect(usageOf(['u']).event()).toBeNull();
  });

  it('are the whole total of a thread that the run began, cached input counted inside', () => {
    const usage = usageOf(['u']);
    usage.add('T', 'u', report(3));
    const tokens = { inputTokens: 300, outputTokens: 30, totalTokens: 330, cacheReadTokens: 120 };
    expect(usage.event()).toEqual({ type: 'usage', tokens, requests: 1 });
  });

  it.each([
    ['a fraction', 10.5, 11],
    ['more than can be', 1e20, 0],
    ['the largest of all numbers', 1e308, 0],
  ])('are whole where Codex tells %s', (_name, inputTokens, counted) => {
    const told = { total: { inputTokens, outputTokens: 2 } };
    const note = readNote('thread/tokenUsage/updated', { threadId: 'T', turnId: 'u', tokenUsage: told });
    expect(note).toMatchObject({ usage: { total: { inputTokens: counted, outputTokens: 2, cachedInputTokens: 0 } } });
  });

  it('leave out what a resumed thread spent before, whether it was told or not', () => {
    const told = usageOf(['u'], null);
    told.add('T', 'turn-of-old', report(5));
    told.add('T', 'u', report(6));
    const untold = usageOf(['u'], null);
    untold.add('T', 'u', report(6));
    expect([inputOf(told), inputOf(untold)]).toEqual([100, 100]);
  });

  it('leave out the turns of others, also in between', () => {
    const usage = usageOf(['u']);
    usage.add('T', 'u', report(1));
    usage.add('T', 'stranger', report(4));
    usage.add('T', 'u', report(5));
    expect(inputOf(usage)).toBe(200);
  });

  it('include the helpers that the agent started in threads of their own', () => {
    const usage = usageOf(['u', 'helper-turn']);
    usage.add('T', 'u', report(1));
    usage.add('helper', 'helper-turn', report(1));
    usage.add('helper', 'helper-turn', report(2));
    expect(inputOf(usage)).toBe(300);
  });

  it('count requests by the model they were made to', () => {
    const usage = usageOf(['u']);
    usage.add('T', 'u', report(1));
    usage.modelIs('a');
    usage.add('T', 'u', report(2));
    usage.modelIs('b');
    usage.add('T', 'u', report(3));
    expect(usage.event()).toMatchObject({ requests: 3, requestsByModel: { a: 1, b: 1 } });
  });

  it('are the highest total however reports are repeated, lost and mixed, and never go down', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { minLength: 1 }), (counts) => {
        const usage = usageOf(['u']);
        let highest = 0;
        for (const count of counts) {
          usage.add('T', 'u', report(count));
          highest = Math.max(highest, count);
          expect(inputOf(usage) ?? 0).toBe(100 * highest);
        }
      }),
    );
  });

  it('stay bounded in memory whatever is printed', () => {
    const usage = usageOf([]);
    for (let n = 0; n < 20_000; n += 1) {
      usage.turnStarted(`turn-${n}`);
      usage.add(`thread-${n}`, `turn-${n}`, report(1));
    }
    expect(inputOf(usage)).toBe(100 * 999);
  });
});
