import { expect, it } from 'vitest';
import { figuresOf, plainQuotas } from './quota.ts';

const NAMES = { remaining: 'x-ratelimit-remaining', limit: 'x-ratelimit-limit', reset: 'x-ratelimit-reset' };
const NOW = Date.UTC(2026, 10, 15, 12);

function figures(reset: string, remaining = '7', limit = '60') {
  const headers = new Headers({ [NAMES.remaining]: remaining, [NAMES.limit]: limit, [NAMES.reset]: reset });
  return figuresOf(headers, NAMES, NOW);
}

it.each([
  ['seconds since the epoch', String(NOW / 1000 + 60), NOW + 60_000],
  ['milliseconds since the epoch', String(NOW + 60_000), NOW + 60_000],
  ['seconds from now', '60', NOW + 60_000],
  ['a date', '2026-11-15T12:01:00Z', NOW + 60_000],
  ['nothing usable', 'soon', null],
  ['a negative number', '-5', null],
])('a reset as %s', (_, reset, resetAt) => {
  expect(figures(reset)).toEqual({ remaining: 7, limit: 60, resetAt });
});

it('figures that are none are not read', () => {
  expect(figures('60', 'many')).toBeNull();
  expect(figures('60', '-1', '0')).toMatchObject({ remaining: 0, limit: null });
});

it('an answer that said "not modified" took nothing, and the answer names its budget', () => {
  const read = plainQuotas('repoissues', 'hold', 'core');
  const answer = (more: Record<string, string>, revalidated: boolean) =>
    read(
      {
        status: 200,
        headers: new Headers({ 'x-ratelimit-remaining': '3', ...more }),
        url: '',
        path: '',
        body: '',
        truncated: false,
        revalidated,
        json: () => null,
      },
      NOW,
    );
  expect(answer({}, true)).toMatchObject([{ resource: 'core', cost: 0 }]);
  expect(answer({ 'x-ratelimit-resource': 'search' }, false)).toMatchObject([{ resource: 'search', cost: 1 }]);
});
