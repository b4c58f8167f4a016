import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { promptResult } from './parse.ts';
import { createConversations } from './conversations.ts';
import { createUsage, tokensOf, type UsageStart } from './usage.ts';

const answer = (usage: object) => promptResult.parse({ stopReason: 'end_turn', usage });
const tokens = (inputTokens: number, outputTokens = 0) =>
  answer({ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens });

function usageOf(covers: Partial<UsageStart['covers']>, costBefore: number | null = 0) {
  const costs: number[] = [];
  const usage = createUsage({
    covers: { tokens: 'turn', cost: 'conversation', ...covers },
    costBefore,
    onCost: (amount) => costs.push(amount),
  });
  return { ...usage, costs, total: () => usage.news()?.tokens.totalTokens, costUsd: () => usage.news()?.costUsd };
}

describe('a cost', () => {
  it.each([1e308, Infinity, Number.NaN, -1])('of %s is none', (told) => {
    const usage = usageOf({});
    usage.cost(told, 'USD');
    expect([usage.costUsd(), usage.costs]).toEqual([undefined, []]);
  });
});

describe('tokensOf', () => {
  it.each([
    [
      'a fraction',
      { inputTokens: 10.5, outputTokens: 5, totalTokens: 15.5 },
      { inputTokens: 11, outputTokens: 5, totalTokens: 16 },
    ],
    ['more than can be', { inputTokens: 1e20, outputTokens: 5 }, { inputTokens: 0, outputTokens: 5, totalTokens: 5 }],
    ['only more than can be', { inputTokens: 1e308, outputTokens: 1e308 }, null],
  ])('counts whole tokens where the agent tells %s', (_name, usage, counted) => {
    expect(tokensOf(answer(usage))).toEqual(counted === null ? null : { ...counted, cacheReadTokens: 0 });
    const quota = { token_count: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens } };
    const elsewhere = promptResult.parse({ stopReason: 'end_turn', _meta: { quota } });
    expect(tokensOf(elsewhere)).toEqual(counted === null ? null : { ...counted, cacheReadTokens: 0 });
  });

  it.each([
    {
      name: 'everything inside',
      usage: { inputTokens: 100, cachedReadTokens: 40, outputTokens: 20, thoughtTokens: 5, totalTokens: 120 },
      input: 100,
      output: 20,
    },
    {
      name: 'cached input beside',
      usage: { inputTokens: 60, cachedReadTokens: 30, cachedWriteTokens: 10, outputTokens: 20, totalTokens: 120 },
      input: 100,
      output: 20,
    },
    {
      name: 'cached input and thoughts beside',
      usage: { inputTokens: 60, cachedReadTokens: 40, outputTokens: 15, thoughtTokens: 5, totalTokens: 120 },
      input: 100,
      output: 20,
    },
    {
      name: 'thoughts beside',
      usage: { inputTokens: 100, cachedReadTokens: 40, outputTokens: 15, thoughtTokens: 5, totalTokens: 120 },
      input: 100,
      output: 20,
    },
    { name: 'no total', usage: { inputTokens: 100, cachedReadTokens: 40, outputTokens: 20 }, input: 100, output: 20 },
    {
      name: 'a total that fits nothing',
      usage: { inputTokens: 100, cachedReadTokens: 40, outputTokens: 20, totalTokens: 999 },
      input: 100,
      output: 20,
    },
    {
      name: 'no total and more cached than all',
      usage: { inputTokens: 10, cachedReadTokens: 40, outputTokens: 20 },
      input: 50,
      output: 20,
    },
  ])('$name', ({ usage, input, output }) => {
    expect(tokensOf(answer(usage))).toMatchObject({ inputTokens: input, outputTokens: output, totalTokens: input + output });
  });

  it.each([
    ['nothing', {}],
    ['null', { usage: null }],
    ['zeros', { usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } }],
    ['words', { usage: { inputTokens: 'many', outputTokens: 1 } }],
    ['negative counts', { usage: { inputTokens: -5, outputTokens: 1 } }],
    ['an empty quota', { _meta: { quota: { token_count: null } } }],
  ])('is unknown where the agent tells %s', (_name, members) => {
    expect(tokensOf(promptResult.parse({ stopReason: 'end_turn', ...members }))).toBeNull();
  });
});

describe('the price of a conversation that another daemon began', () => {
  const usageAfter = (costRecorded: number | null) =>
    createUsage({ covers: { tokens: 'turn', cost: 'conversation' }, costBefore: null, costRecorded });
  it.each([
    ['the records know', 2, 3, 1],
    ['the records put too high', 4, 3, 0],
    ['nobody knows', null, 3, 0],
  ])('counts from what %s', (_name, recorded, told, costUsd) => {
    const usage = usageAfter(recorded);
    usage.cost(told, 'USD');
    usage.turnEnded(tokens(10));
    expect(usage.news()?.costUsd).toBe(costUsd);
    usage.cost(told + 5, 'USD');
    usage.turnEnded(tokens(10));
    expect(usage.news()).toMatchObject({ costUsd: told + 5 - Math.min(recorded ?? told, 4), costIsSettled: true });
  });
});

describe('the usage', () => {
  it('is silent while nothing is known and when nothing is new', () => {
    const usage = usageOf({});
    expect(usage.news()).toBeNull();
    usage.turnEnded(tokens(10));
    expect(usage.news()).toEqual({
      type: 'usage',
      tokens: { inputTokens: 10, outputTokens: 0, totalTokens: 10, cacheReadTokens: 0 },
    });
    expect(usage.news()).toBeNull();
  });

  it('adds up what turns report', () => {
    const usage = usageOf({ tokens: 'turn' });
    for (const spent of [10, 5, 20]) usage.turnEnded(tokens(spent));
    expect(usage.total()).toBe(35);
  });

  it('takes the highest of reports since the start', () => {
    const usage = usageOf({ tokens: 'process' });
    for (const spent of [10, 10, 25]) usage.turnEnded(tokens(spent));
    expect(usage.total()).toBe(25);
  });

  it('of an unknown agent takes reports as cumulative until one is lower, then adds up all of them', () => {
    const usage = usageOf({ tokens: 'unknown' });
    usage.turnEnded(tokens(10));
    usage.turnEnded(tokens(25));
    expect(usage.total()).toBe(25);
    usage.turnEnded(tokens(5));
    expect(usage.total()).toBe(40);
  });

  it('tells a cost at once, also before tokens are known', () => {
    const usage = usageOf({});
    usage.cost(0.5, 'USD');
    expect(usage.news()).toEqual({
      type: 'usage',
      tokens: { inputTokens: 0, outputTokens: 0, totalTokens: 0, cacheReadTokens: 0 },
      costUsd: 0.5,
    });
  });

  it('adds up what is told request by request, once', () => {
    const usage = usageOf({});
    const figures = { inputTokens: 100, outputTokens: 10, totalTokens: 110 };
    usage.requestTold(figures);
    usage.requestTold(figures);
    expect(usage.total()).toBe(220);
    usage.turnEnded(promptResult.parse({ stopReason: 'end_turn' }));
    usage.requestTold(figures);
    usage.turnEnded(promptResult.parse({ stopReason: 'end_turn', usage: figures }));
    expect(usage.total()).toBe(330);
  });

  it('guesses the turn under way, and forgets that once it is told', () => {
    const usage = usageOf({});
    usage.turnEnded(tokens(10));
    for (const used of [100, 120]) usage.contextSeen(used);
    usage.toolCalled();
    usage.contextSeen(130);
    expect(usage.news()).toMatchObject({ tokens: { totalTokens: 10 }, estimatedTokens: 250 });
    usage.turnEnded(tokens(240));
    expect(usage.news()).toEqual({ type: 'usage', tokens: expect.objectContaining({ totalTokens: 250 }) as unknown });
  });

  it.each([
    ['of a turn that failed', null, 250],
    ['of a turn that was cancelled', { stopReason: 'cancelled' }, 250],
    ['of a cancelled turn that tells zeros', { stopReason: 'cancelled', usage: { inputTokens: 0, outputTokens: 0 } }, 250],
    ['of a turn that ended without figures', { stopReason: 'end_turn' }, 250],
    ['not of a turn that asked no model', { stopReason: 'end_turn', usage: { inputTokens: 0, outputTokens: 0 } }, undefined],
  ])('counts the guess %s', (_name, result, total) => {
    const usage = usageOf({});
    usage.contextSeen(120);
    usage.toolCalled();
    usage.contextSeen(130);
    usage.turnEnded(result === null ? null : promptResult.parse(result));
    expect(usage.total()).toBe(total);
  });

  it('never goes down', () => {
    const step = fc.oneof(fc.record({ tokens: fc.nat(1000) }), fc.record({ cost: fc.double({ min: 0, max: 10, noNaN: true }) }));
    const covers = fc.record({
      tokens: fc.constantFrom('turn' as const, 'process' as const, 'unknown' as const),
      cost: fc.constantFrom('process' as const, 'conversation' as const),
    });
    fc.assert(
      fc.property(covers, fc.option(fc.constant(1)), fc.array(step), (scope, before, steps) => {
        const usage = createUsage({ covers: scope, costBefore: before });
        let last = { tokens: 0, cost: 0 };
        for (const one of steps) {
          if ('tokens' in one) usage.turnEnded(tokens(one.tokens));
          else usage.cost(one.cost, 'USD');
          const news = usage.news();
          if (!news) continue;
          expect(news.tokens.totalTokens).toBeGreaterThanOrEqual(last.tokens);
          expect(news.costUsd ?? 0).toBeGreaterThanOrEqual(last.cost);
          last = { tokens: news.tokens.totalTokens, cost: news.costUsd ?? 0 };
        }
      }),
    );
  });
});

describe('an agent', () => {
  const after = (...turns: readonly (number | null)[]): boolean => {
    const conversations = createConversations(0);
    for (const cost of turns) {
      if (cost === null) conversations.costMissed();
      else conversations.costSeen('s', cost);
    }
    return conversations.mayTellCost();
  };

  it('tells no costs when some turns had none and no other had one', () => {
    expect([after(), after(null, null), after(null, null, null)]).toEqual([true, true, false]);
    expect([after(0.1, null, null, null, null), after(null, null, null, null, 0.1)]).toEqual([true, true]);
  });
});
