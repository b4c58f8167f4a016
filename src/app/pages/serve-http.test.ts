import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createFakeDaemon } from '../../../test/support/fake-daemon.ts';
import { createReleasers } from '../../lib/releasers.ts';
import { serveHttp, type KeptPort } from './serve-http.ts';

const SERVER = { port: null, host: '127.0.0.1', token: null, allowedHosts: [], webhookSecret: null, publicUrl: null };

/** Serves, tells at which port, and how to end it. */
async function serve(port: number, kept?: KeptPort) {
  const releasers = createReleasers(() => {});
  onTestFinished(() => releasers.run());
  const { url } = await serveHttp(createFakeDaemon(), { server: SERVER, port, kept }, releasers);
  return { port: Number(new URL(url ?? '').port), stop: () => releasers.run() };
}

async function takePort(port: number): Promise<void> {
  const stranger = createServer().listen(port, '127.0.0.1');
  await once(stranger, 'listening');
  onTestFinished(() => void stranger.close());
}

it('serves where it served before, when the system may choose the port', async () => {
  const kept: KeptPort = { port: null };
  const first = await serve(0, kept);
  await first.stop();
  const second = await serve(0, kept);
  expect(second.port).toBe(first.port);
  await second.stop();
  expect((await serve(0, kept)).port).toBe(first.port);
});

it('serves elsewhere when somebody else has that port by now, and stays there', async () => {
  const kept: KeptPort = { port: null };
  const first = await serve(0, kept);
  await first.stop();
  await takePort(first.port);
  const second = await serve(0, kept);
  expect(second.port).not.toBe(first.port);
  await second.stop();
  expect((await serve(0, kept)).port).toBe(second.port);
});

it('serves at the port it is told, and at no other', async () => {
  const kept: KeptPort = { port: null };
  const any = await serve(0, kept);
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await expect(serve(port, kept)).rejects.toThrow(`port ${port} is in use`);
  other.close();
  await once(other, 'close');
  expect((await serve(port, kept)).port).toBe(port);
  expect(kept.port).toBe(any.port);
});
