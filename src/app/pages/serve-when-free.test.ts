import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createFakeDaemon } from '../../../test/support/fake-daemon.ts';
import { createReleasers, type Releasers } from '../../lib/releasers.ts';
import { serveHttp } from './serve-http.ts';
import { serveWhenFree } from './serve-when-free.ts';

const SERVER = { port: null, host: '127.0.0.1', token: null, allowedHosts: [], webhookSecret: null, publicUrl: null };

/** Somebody else has the port. */
async function takePort() {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  return { port: (other.address() as AddressInfo).port, free: () => other.close() };
}

it('tells once that the port is taken, and serves there when it is free, as the file says by then', async () => {
  const other = await takePort();
  const releasers = createReleasers(() => {});
  onTestFinished(() => releasers.run());
  const told: unknown[] = [];
  const at: (string | null)[] = [];
  let tries = 0;
  const served = await serveWhenFree(
    (opened) => {
      tries += 1;
      return serveHttp(createFakeDaemon(), { server: SERVER, port: other.port }, opened);
    },
    { releasers, tell: (fault) => told.push(fault), onServed: (url) => at.push(url), everyMs: 20 },
  );
  expect(served.url).toBeNull();
  served.admit({ ...SERVER, token: 'the-new-token' });
  await expect.poll(() => tries).toBeGreaterThan(2);
  expect(told.map(String)).toEqual([expect.stringContaining(`port ${other.port} is in use`)]);
  other.free();
  await expect.poll(() => served.url).toBe(`http://127.0.0.1:${other.port}/`);
  expect(at).toEqual([served.url]);
  expect((await fetch(`${served.url}api/v2/runs`)).status).toBe(401);
  await releasers.run();
  await expect(fetch(`${served.url}livez`)).rejects.toThrow();
});

it('stops trying when all is closed', async () => {
  const other = await takePort();
  const releasers = createReleasers(() => {});
  const place = { server: SERVER, port: other.port };
  let tries = 0;
  const serve = (opened: Releasers) => {
    tries += 1;
    return serveHttp(createFakeDaemon(), place, opened);
  };
  const served = await serveWhenFree(serve, { releasers, tell: () => {}, everyMs: 5 });
  await expect.poll(() => tries).toBeGreaterThan(1);
  await releasers.run();
  const before = tries;
  other.free();
  expect([served.url, tries - before]).toEqual([null, 0]);
  await expect(fetch(`http://127.0.0.1:${other.port}/livez`)).rejects.toThrow();
});
