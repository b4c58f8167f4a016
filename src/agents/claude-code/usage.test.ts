import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Figures } from './parse.ts';
import { createUsage } from './usage.ts';

const figures = (input: number, output: number, cacheRead = 0, cacheWrite = 0): Figures => ({
  input,
  output,
  cacheRead,
  cacheWrite,
});

describe('the usage of a run', () => {
  it('is unknown until something was reported', () => {
    const usage = createUsage();
    expect(usage.event()).toBeNull();
    usage.message('m1', 'opus', null);
    usage.result({ figures: figures(0, 0), own: null, costUsd: 0, apiMs: 0 });
    expect(usage.event()).toBeNull();
  });

  it('counts cached input once, inside the input', () => {
    const usage = createUsage();
    usage.result({ figures: figures(2004, 50, 600, 400), own: null, costUsd: null, apiMs: null });
    const tokens = { inputTokens: 3004, outputTokens: 50, totalTokens: 3054, cacheReadTokens: 600 };
    expect(usage.event()).toEqual({ type: 'usage', tokens });
  });

  it('takes the highest figures of a message that repeats', () => {
    const usage = createUsage();
    usage.message('m1', 'opus', figures(1000, 1, 300));
    usage.message('m1', 'opus', figures(1000, 25, 300));
    usage.message('m1', 'opus', figures(1000, 7, 300));
    expect(usage.event()).toMatchObject({ tokens: { inputTokens: 1300, outputTokens: 25 }, requests: 1 });
  });

  it('lets the result settle a turn without counting it twice', () => {
    const usage = createUsage();
    usage.message('m1', 'opus', figures(1000, 1));
    usage.message('m2', 'haiku', figures(500, 1));
    usage.result({ figures: figures(1600, 90), own: null, costUsd: 0.5, apiMs: 40 });
    expect(usage.event()).toEqual({
      type: 'usage',
      tokens: { inputTokens: 1600, outputTokens: 90, totalTokens: 1690, cacheReadTokens: 0 },
      requests: 2,
      requestsByModel: { opus: 1, haiku: 1 },
      apiMs: 40,
      costUsd: 0.5,
    });
  });

  it('adds turns up, and keeps what a turn without a result had spent', () => {
    const usage = createUsage();
    usage.message('m1', 'opus', figures(1000, 1));
    usage.result({ figures: figures(1000, 50), own: null, costUsd: 0.25, apiMs: 10 });
    usage.endProcess();
    usage.message('m2', 'opus', figures(2000, 3));
    usage.endProcess();
    usage.message('m1', 'opus', figures(10, 1));
    usage.result({ figures: figures(10, 2), own: figures(10, 2), costUsd: 0.5, apiMs: 5 });
    expect(usage.event()).toMatchObject({
      tokens: { inputTokens: 3010, outputTokens: 55, totalTokens: 3065 },
      requests: 3,
      costUsd: 0.75,
      apiMs: 15,
    });
  });

  it('reads a second result of the same process as the whole of it', () => {
    const usage = createUsage();
    usage.result({ figures: figures(1000, 50), own: null, costUsd: 0.25, apiMs: 10 });
    usage.result({ figures: figures(1500, 70), own: null, costUsd: 0.5, apiMs: 30 });
    expect(usage.event()).toMatchObject({ tokens: { inputTokens: 1500, outputTokens: 70 }, costUsd: 0.5, apiMs: 30 });
  });

  describe('of a conversation that is resumed', () => {
    /** Two processes that each ask once; the second one's result as a version reports it. */
    function twoTurns(second: { figures: Figures; costUsd: number; apiMs: number }) {
      const usage = createUsage();
      usage.message('m1', 'opus', figures(1000, 1, 300));
      usage.result({ figures: figures(1000, 50, 300), own: figures(1000, 50, 300), costUsd: 0.25, apiMs: 10 });
      usage.endProcess();
      usage.message('m2', 'opus', figures(1100, 1, 310));
      usage.result({ ...second, own: figures(1100, 70, 310) });
      return usage.event();
    }
    const both = { tokens: { inputTokens: 2710, outputTokens: 120, cacheReadTokens: 610 }, costUsd: 0.75, apiMs: 30 };

    it('counts each process once when results are of their process', () => {
      expect(twoTurns({ figures: figures(1100, 70, 310), costUsd: 0.5, apiMs: 20 })).toMatchObject(both);
    });

    it('counts each process once when results are of the whole conversation', () => {
      expect(twoTurns({ figures: figures(2100, 120, 610), costUsd: 0.75, apiMs: 30 })).toMatchObject(both);
    });

    it('leaves out what it had spent before this run, and takes a share of the cost', () => {
      const usage = createUsage(true);
      usage.message('m1', 'opus', figures(1000, 1));
      usage.result({ figures: figures(3900, 300), own: figures(1000, 50), costUsd: 4, apiMs: 400 });
      expect(usage.event()).toMatchObject({ tokens: { inputTokens: 1000, outputTokens: 50 }, costUsd: 1, apiMs: 100 });
      usage.endProcess();
      usage.message('m2', 'opus', figures(1200, 1));
      usage.result({ figures: figures(5100, 360), own: figures(1200, 60), costUsd: 6, apiMs: 500 });
      expect(usage.event()).toMatchObject({ tokens: { inputTokens: 2200, outputTokens: 110 }, costUsd: 3, apiMs: 200 });
    });

    it('takes a result that holds no more than its process as it is', () => {
      const usage = createUsage(true);
      usage.message('m1', 'opus', figures(1000, 1));
      usage.result({ figures: figures(1000, 50), own: figures(1000, 50), costUsd: 4, apiMs: 400 });
      expect(usage.event()).toMatchObject({ tokens: { inputTokens: 1000, outputTokens: 50 }, costUsd: 4, apiMs: 400 });
    });

    it('begins at nothing when it has to be replaced', () => {
      const usage = createUsage(true);
      usage.endProcess();
      usage.beginConversation();
      usage.message('m1', 'opus', figures(1000, 1));
      usage.result({ figures: figures(1500, 80), own: figures(1000, 50), costUsd: 4, apiMs: 400 });
      expect(usage.event()).toMatchObject({ tokens: { inputTokens: 1500, outputTokens: 80 }, costUsd: 4 });
    });
  });

  it('keeps bounded memory and exact counts over many messages', () => {
    const usage = createUsage();
    for (let id = 0; id < 20_000; id += 1) usage.message(`m${id}`, `model-${id % 1000}`, figures(1, 1));
    const event = usage.event();
    expect(event).toMatchObject({ tokens: { inputTokens: 20_000 }, requests: 20_000 });
    expect(Object.keys(event?.requestsByModel ?? {})).toHaveLength(50);
  });

  it('never goes down', () => {
    const count = fc.nat(5000);
    const wild = fc.record({ input: count, output: count, cacheRead: count, cacheWrite: count });
    const step = fc.oneof(
      fc.record({ do: fc.constant('message' as const), id: fc.constantFrom('a', 'b', 'c'), figures: fc.option(wild) }),
      fc.record({ do: fc.constant('result' as const), figures: fc.option(wild), cost: fc.option(fc.nat(9)) }),
      fc.record({ do: fc.constant('end' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (steps, isResumed) => {
        const usage = createUsage(isResumed);
        let [tokens, cost, requests] = [0, 0, 0];
        for (const next of steps) {
          if (next.do === 'message') usage.message(next.id, 'opus', next.figures);
          else if (next.do === 'result') usage.result({ figures: next.figures, own: null, costUsd: next.cost, apiMs: null });
          else usage.endProcess();
          const event = usage.event();
          if (event === null) continue;
          expect(event.tokens.totalTokens).toBeGreaterThanOrEqual(tokens);
          expect(event.costUsd ?? 0).toBeGreaterThanOrEqual(cost);
          expect(event.requests ?? 0).toBeGreaterThanOrEqual(requests);
          [tokens, cost, requests] = [event.tokens.totalTokens, event.costUsd ?? 0, event.requests ?? 0];
        }
      }),
    );
  });
});
