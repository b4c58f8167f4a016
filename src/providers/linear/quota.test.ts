import { expect, it } from 'vitest';
import { readAllowances } from './allowance.ts';

it('requests and points are told, with what the document took', () => {
  const headers = new Headers({
    'x-complexity': '590',
    'x-ratelimit-requests-limit': '5000',
    'x-ratelimit-requests-remaining': '4998',
    'x-ratelimit-requests-reset': '1794787200000',
    'x-ratelimit-complexity-limit': '3000000',
    'x-ratelimit-complexity-remaining': '2999410',
    'x-ratelimit-complexity-reset': '1794787200000',
  });
  const answer = { status: 200, headers, url: '', path: '', body: '', truncated: false, json: () => null };
  expect(readAllowances(answer, 0)).toEqual([
    { kind: 'graphql', rule: 'pace', resource: 'requests', remaining: 4998, limit: 5000, resetAt: 1_794_787_200_000, cost: 1 },
    {
      kind: 'graphql',
      rule: 'pace',
      resource: 'complexity',
      remaining: 2_999_410,
      limit: 3_000_000,
      resetAt: 1_794_787_200_000,
      cost: 590,
    },
  ]);
});
