import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settingsWith } from '../../test/support/settings.ts';
import { loadProviders } from './registry.ts';

const silent = (): void => {};
const DEPS = {
  version: 'test',
  workflowDir: '.',
  clock: { now: () => 0 },
  logger: { debug: silent, info: silent, warn: silent, error: silent },
};
const { signal } = new AbortController();
const REQUEST = { owner: 'acme', repo: 'shop', number: 7 };
const PROJECTS: Readonly<Record<string, string>> = { wfboard: 'ABC', graphql: 'ENG' };
const PROVIDERS = (await loadProviders()).filter(({ kind }) => kind !== 'file');

let asked = 0;
let heard = 0;
let elsewhere: Server;
let remote: Server;
const addressOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const listening = (server: Server): Promise<void> => new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

beforeAll(async () => {
  elsewhere = createServer((_request, response) => {
    heard += 1;
    response.end('[]');
  });
  await listening(elsewhere);
  // 307 keeps method and body: a client that follows it would take the credential along on writes too.
  remote = createServer((request, response) => {
    asked += 1;
    response.writeHead(307, { location: `${addressOf(elsewhere)}${request.url}` }).end();
  });
  await listening(remote);
});
afterAll(() => {
  for (const server of [remote, elsewhere]) server.closeAllConnections();
  for (const server of [remote, elsewhere]) server.close();
});

describe.each(PROVIDERS)('$kind, redirected to another origin', ({ kind, createTracker, createScm, createCi }) => {
  it('goes there with no read and no write', async () => {
    const project = PROJECTS[kind] ?? 'acme/shop';
    const access = { kind, endpoint: addressOf(remote), apiKey: 'ann@x.test:secret-token-1', project };
    const states = { activeStates: ['ready'], terminalStates: ['done'], handoffState: 'review' };
    const tracker = createTracker(settingsWith({ tracker: { ...access, ...states } }).tracker, DEPS);
    const scm = createScm?.({ ...access, name: kind, userAgent: '' }, DEPS);
    const ci = createCi?.({ ...access, name: kind, userAgent: '' }, DEPS);
    asked = 0;
    const done = await Promise.allSettled([
      tracker.fetchCandidateIssues(signal),
      tracker.fetchIssueById('7', signal),
      tracker.fetchIssueComments('7', signal),
      tracker.transitionIssue('7', 'review', signal),
      tracker.commentIssue('7', 'hello', signal),
      ...(scm ? [scm.readMergeStatus(REQUEST, signal), scm.readOwnAccount(signal)] : []),
      ...(ci ? [ci.readCi({ ...REQUEST, ref: 'a'.repeat(40), maxLogLines: 5 }, signal)] : []),
    ]);
    expect(done.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    expect(asked).toBeGreaterThan(3);
    expect(heard).toBe(0);
  });
});
