import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { startFakeGithub } from '../fakes/github.ts';
import { createPlayground, workflowText } from '../support/daemon.ts';

it('reaches the tracker through the proxy of the environment, and what NO_PROXY names without it', async ({ onTestFinished }) => {
  const ground = await createPlayground();
  const tracker = await startFakeGithub({ labels: ['ready'] });
  tracker.addIssue({ title: 'Behind a proxy', labels: ['ready'] });
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on('connect', (request: IncomingMessage, client: Socket) => {
    asked.push(request.url ?? '');
    const upstream = connect(Number(new URL(tracker.url).port), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) socket.on('error', () => {});
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await ground.cleanup();
    await tracker.close();
  });
  const write = (endpoint: string): Promise<string> =>
    ground.write(
      'WORKFLOW.md',
      workflowText({
        tracker: `kind: github\nendpoint: ${endpoint}\nproject: acme/widgets\napi_key: $TOKEN\nactive_states: [ready]`,
        agent: 'kind: mock',
      }),
    );
  const env = { TOKEN: tracker.token, HTTP_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
  await write('http://tracker.example');
  const through = await ground.run(['--dry-run', 'WORKFLOW.md'], { env });
  expect(through.records.some((record) => record['title'] === 'Behind a proxy')).toBe(true);
  expect(asked).toContain('tracker.example:80');
  asked.length = 0;
  await write(tracker.url);
  const direct = await ground.run(['--dry-run', 'WORKFLOW.md'], { env: { ...env, NO_PROXY: '127.0.0.1' } });
  expect(direct.records.some((record) => record['title'] === 'Behind a proxy')).toBe(true);
  expect(asked).toEqual([]);
});
