import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow } from '../support/daemon.ts';

/** A collector: it keeps what it was sent. Names and attributes stand in the messages as plain text. */
async function startCollector() {
  const received: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push(`${request.method} ${request.url} ${Buffer.concat(chunks).toString('utf8')}`);
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: () => void (server.closeAllConnections(), server.close()),
  };
}

it('traces arrive at the collector with the documented names, also those of the last moments', async ({ onTestFinished }) => {
  const ground = await createPlayground();
  const collector = await startCollector();
  onTestFinished(async () => {
    collector.close();
    await ground.cleanup();
  });
  await ground.writeIssues([{ id: '1', identifier: 'T-1', title: 'One', state: 'todo' }]);
  await ground.write('WORKFLOW.md', fileWorkflow({ agent: 'kind: mock\nmax_turns: 2' }));
  const daemon = await ground.start(['--port', '0'], { env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  await daemon.record('handoff transition succeeded, releasing claim');
  await eventually(
    () => collector.received.length,
    (count) => count > 0,
    'the first traces',
  );
  expect((await daemon.stop()).code).toBe(0);
  const all = collector.received.join('\n');
  expect(all).toMatch(/^POST \/v1\/traces /);
  const names = [
    'issue T-1',
    'invoke_agent mock',
    'turn 1',
    'turn 2',
    'service.name',
    'gen_ai.operation.name',
    'gen_ai.agent.name',
    'gen_ai.conversation.id',
    'mock-session-1',
    'foray.run.status',
    'succeeded',
    'foray.issue.outcome',
  ];
  for (const name of names) expect(all, name).toContain(name);
});

it('a collector that is not there harms nothing, and no variable loads nothing', async ({ onTestFinished }) => {
  const ground = await createPlayground();
  onTestFinished(() => ground.cleanup());
  await ground.writeIssues([{ id: '1', identifier: 'T-1', title: 'One', state: 'todo' }]);
  await ground.write('WORKFLOW.md', fileWorkflow({ agent: 'kind: mock\nmax_turns: 1' }));
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
  const daemon = await ground.start(['--port', '0'], { env });
  await daemon.record('handoff transition succeeded, releasing claim');
  const before = Date.now();
  expect((await daemon.stop()).code).toBe(0);
  // Three seconds for the traces, and none for what would be tried after them.
  expect(Date.now() - before).toBeLessThan(4_500);
});

it('an address that is none is told by its variable, and nothing is sent', async ({ onTestFinished }) => {
  const ground = await createPlayground();
  onTestFinished(() => ground.cleanup());
  await ground.writeIssues([]);
  await ground.write('WORKFLOW.md', fileWorkflow({ agent: 'kind: mock' }));
  const daemon = await ground.start(['--port', '0'], { env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'nonsense' } });
  const told = { variable: 'OTEL_EXPORTER_OTLP_ENDPOINT' };
  await daemon.record('no traces are sent, the address of the collector is none', told);
  await daemon.stop();
  expect(daemon.stderr()).not.toContain('traces are sent endpoint');
});
