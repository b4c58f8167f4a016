import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { createNotices, anIssue } from '../../test/support/fake-daemon.ts';
import { createLogRecorder } from '../../test/support/workspaces.ts';
import { startTelemetry } from './index.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

it('a collector that does not answer holds up the end for three seconds, however patient it may be', async () => {
  const unanswered: ServerResponse[] = [];
  const server = createServer((_, response) => unanswered.push(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // The exporter reads these by itself.
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TIMEOUT: '600000' };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const logger = createLogRecorder();
  const notices = createNotices();
  const stop = await startTelemetry({ notices, env, version: '1', logger });
  notices.announce({
    name: 'issue:dispatch:started',
    facts: { issue: anIssue('ENG-1'), runId: 'r-1', attempt: 0, trigger: 'fresh', agentKind: 'mock' },
  });

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const asked = once(server, 'request');
  const stopped = stop();
  await asked;
  vi.advanceTimersByTime(3_000);
  await stopped;
  expect(logger.records.at(-1)).toMatchObject({ level: 'warn', message: 'the last traces could not be sent' });

  for (const response of unanswered) response.end();
  server.close();
});
