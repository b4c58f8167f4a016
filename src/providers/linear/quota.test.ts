import { expect, it } from 'vitest';
import { createAllowanceWatch, readAllowances } from './allowance.ts';

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

it('each endpoint has an allowance of its own', () => {
  const readingOf = (name: string, remaining: string) => {
    const headers = new Headers({
      'x-ratelimit-endpoint-name': name,
      'x-ratelimit-endpoint-requests-limit': '60',
      'x-ratelimit-endpoint-requests-remaining': remaining,
      'x-ratelimit-endpoint-requests-reset': '1794787200000',
    });
    return readAllowances({ status: 200, headers, url: '', path: '', body: '', truncated: false, json: () => null }, 0);
  };
  expect(readingOf('issues', '40')).toMatchObject([{ resource: 'endpoint requests of issues', remaining: 40, cost: 1 }]);
  expect(readingOf('commentCreate', '0')).toMatchObject([{ resource: 'endpoint requests of commentCreate', remaining: 0 }]);
  expect(readingOf(' ', '40')).toMatchObject([{ resource: 'endpoint requests' }]);
});

it('is told to be used up for each endpoint, once', () => {
  const told: unknown[] = [];
  const logger = { debug() {}, info() {}, error() {}, warn: (_: string, facts?: object) => void told.push(facts) };
  const watch = createAllowanceWatch(logger);
  const read = (name: string, remaining: string) =>
    watch.read(new Headers({ 'x-ratelimit-endpoint-name': name, 'x-ratelimit-endpoint-requests-remaining': remaining }));
  read('commentCreate', '0');
  read('issues', '40');
  read('commentCreate', '0');
  read('issues', '0');
  expect(told).toMatchObject([{ allowance: 'endpoint requests of commentCreate' }, { allowance: 'endpoint requests of issues' }]);
});
