import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import type { Notice } from '../../domain/model/notice.ts';
import { createTrackerHttp } from '../../providers/shared/http.ts';
import { plainQuotas } from '../../providers/shared/quota.ts';
import { createRequestMeter } from './request-meter.ts';

let server: Server | undefined;
afterEach(() => void server?.close());

const never = new AbortController().signal;
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Answers `/list` in three pages, and `/broken` with a failure; one request less is left after each. */
async function aRemote() {
  let left = 100;
  server = createServer((request, response) => {
    const port = request.socket.localPort;
    left -= 1;
    const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page') ?? '1');
    const next = `<http://127.0.0.1:${port}/list?page=${page + 1}>; rel="next"`;
    response.writeHead(request.url === '/broken' ? 500 : 200, {
      'x-ratelimit-remaining': String(left),
      'x-ratelimit-limit': '100',
      'x-ratelimit-reset': '4000000000',
      ...(page < 3 && request.url !== '/broken' ? { link: next } : {}),
    });
    response.end('[1]');
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function setUp() {
  const told: Notice[] = [];
  const meter = createRequestMeter((notice) => void told.push(notice));
  const statuses = { '5xx': 'tracker_transport_error', other: 'tracker_api_error' } as const;
  const http = createTrackerHttp(
    { kind: 'k', baseUrl: await aRemote(), secrets: [], statuses, quotas: plainQuotas('k', 'hold') },
    { version: '1', clock: { now: () => 1_000 }, logger: silent, meter },
  );
  const facts = (name: Notice['name']) => told.filter((notice) => notice.name === name).map((notice) => notice.facts);
  return { meter, http, facts };
}

it('every page and every failure counts as a request of its operation', async () => {
  const { meter, http, facts } = await setUp();
  await meter.during({ operation: 'fetch_candidates', isLocal: false }, () =>
    http.getRecords(z.number(), { path: '/list' }, never),
  );
  await meter
    .during({ operation: 'transition', isLocal: false }, () => http.send('GET', { path: '/broken' }, never))
    .catch(() => {});
  expect(facts('tracker:request:made')).toEqual([
    ...Array.from({ length: 3 }, () => ({ operation: 'fetch_candidates', result: 'success' })),
    { operation: 'transition', result: 'error' },
  ]);
});

it('a request outside of any operation is the forge, and a local call counts by itself', async () => {
  const { meter, http, facts } = await setUp();
  await http.send('GET', { path: '/list' }, never);
  await meter.during({ operation: 'fetch_issue', isLocal: true }, async () => 1);
  expect(facts('forge:request:made')).toEqual([{ kind: 'k', result: 'success' }]);
  expect(facts('tracker:request:made')).toEqual([{ operation: 'fetch_issue', result: 'success' }]);
});

it('what is left is told at the end of an operation, with what a poll takes of it', async () => {
  const { meter, http, facts } = await setUp();
  const poll = () =>
    meter.during({ operation: 'fetch_candidates', isLocal: false }, () => http.getRecords(z.number(), { path: '/list' }, never));
  await poll();
  await poll();
  await meter.during({ operation: 'comment', isLocal: false }, async () => {});
  const quota = { kind: 'k', resource: 'requests', rule: 'hold', limit: 100, resetAt: 4_000_000_000_000, pollCost: 3 };
  expect(facts('tracker:quotas:read')).toEqual([
    { quotas: [{ ...quota, remaining: 97 }] },
    { quotas: [{ ...quota, remaining: 94 }] },
  ]);
});

it('a budget that no poll used has no cost of a poll', async () => {
  const { meter, http, facts } = await setUp();
  await meter.during({ operation: 'preflight', isLocal: false }, () => http.send('GET', { path: '/list' }, never));
  expect(facts('tracker:quotas:read')).toMatchObject([{ quotas: [{ pollCost: null }] }]);
});
