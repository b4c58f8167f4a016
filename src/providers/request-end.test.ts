import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadProvider } from './registry.ts';

const silent = (): void => {};
const DEPS = {
  version: 'test',
  workflowDir: '.',
  clock: { now: () => 0 },
  logger: { debug: silent, info: silent, warn: silent, error: silent },
};
const { signal } = new AbortController();

let answer: object = {};
let asked: string[] = [];
let forge: Server;
beforeAll(async () => {
  forge = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(forge, 'listening');
});
afterAll(() => {
  forge.closeAllConnections();
  forge.close();
});

const PULL = 'GET /repos/acme/shop/pulls/7';
const GITEA_PULL = 'GET /api/v1/repos/acme/shop/pulls/7';
const REQUEST = 'GET /api/v4/projects/acme%2Fshop/merge_requests/7';
it.each([
  ['repoissues', PULL, { state: 'open', merged: false }, null],
  ['repoissues', PULL, { state: 'closed', merged: false }, 'closed'],
  ['repoissues', PULL, { state: 'closed', merged: true }, 'merged'],
  ['selfhosted', GITEA_PULL, { state: 'open', merged: false }, null],
  ['selfhosted', GITEA_PULL, { state: 'closed', merged: false }, 'closed'],
  ['selfhosted', GITEA_PULL, { state: 'closed', merged: true }, 'merged'],
  ['nsproject', REQUEST, { state: 'opened' }, null],
  ['nsproject', REQUEST, { state: 'locked' }, null],
  ['nsproject', REQUEST, { state: 'closed' }, 'closed'],
  ['nsproject', REQUEST, { state: 'merged' }, 'merged'],
] as const)('%s: how a request ended is read from itself (%s %j)', async (kind, route, body, end) => {
  const endpoint = `http://127.0.0.1:${(forge.address() as AddressInfo).port}`;
  const connection = { kind, name: kind, endpoint, apiKey: 'secret-token-1', project: 'acme/shop', userAgent: '' };
  const opener = (await loadProvider(kind)).createRequests?.(connection, DEPS);
  [answer, asked] = [body, []];
  expect(await opener?.endOf({ owner: 'acme', repo: 'shop', number: 7 }, signal)).toBe(end);
  expect(asked).toEqual([route]);
});
