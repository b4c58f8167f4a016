import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request as sendRequest, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect, it, type TestContext } from 'vitest';
import { startFakeGithub } from '../fakes/github.ts';
import { createPlayground, workflowText, type Playground } from '../support/daemon.ts';
import { openDelivery } from './delivery-stage.ts';
import { forgeEnv } from './reactions/forge.ts';

/** A proxy that knows one way, whatever name it is asked for: the names of these tests exist nowhere else. */
async function startProxy(target: string, { onTestFinished }: TestContext) {
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on('connect', (request: IncomingMessage, client: Socket) => {
    asked.push(request.url ?? '');
    const upstream = connect(Number(new URL(target).port), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) socket.on('error', () => {});
  });
  const url = await listening(proxy);
  onTestFinished(() => void (proxy.closeAllConnections(), proxy.close()));
  return { url, asked };
}

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('reaches the tracker through the proxy of the environment, and what NO_PROXY names without it', async (test) => {
  const ground = await createPlayground();
  const tracker = await startFakeGithub({ labels: ['ready'] });
  tracker.addIssue({ title: 'Behind a proxy', labels: ['ready'] });
  const proxy = await startProxy(tracker.url, test);
  test.onTestFinished(async () => {
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
  const env = { TOKEN: tracker.token, HTTP_PROXY: proxy.url };
  await write('http://tracker.example');
  const through = await ground.run(['--dry-run', 'WORKFLOW.md'], { env });
  expect(through.records.some((record) => record['title'] === 'Behind a proxy')).toBe(true);
  expect(proxy.asked).toContain('tracker.example:80');
  proxy.asked.length = 0;
  await write(tracker.url);
  const direct = await ground.run(['--dry-run', 'WORKFLOW.md'], { env: { ...env, NO_PROXY: '127.0.0.1' } });
  expect(direct.records.some((record) => record['title'] === 'Behind a proxy')).toBe(true);
  expect(proxy.asked).toEqual([]);

  await write('http://tracker.example');
  const dead = 'http://me:hunter2@127.0.0.1:9';
  const { stderr } = await ground.run(['--dry-run', 'WORKFLOW.md'], { env: { ...env, HTTP_PROXY: dead } });
  expect(stderr).toMatch(/ECONNREFUSED.*: the proxy http:\/\/127\.0\.0\.1:\d+ cannot be reached: correct or unset HTTP_PROXY/);
  expect(stderr).not.toMatch(/hunter2|nothing listens there/);
  const wrong = await ground.run(['--dry-run', 'WORKFLOW.md'], { env: { ...env, HTTP_PROXY: 'me:hunter2@proxy' } });
  expect(wrong).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^foray: HTTP_PROXY is not the address of a proxy/) as string,
  });
  expect(wrong.stderr).not.toContain('hunter2');
});

const HAS_OPENSSL = ((): boolean => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** A certificate for one name that only who is told of it trusts. */
function makeCertificate(ground: Playground, name: string): { readonly key: string; readonly cert: string } {
  const [key, cert] = [ground.path('key.pem'), ground.path('cert.pem')];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  const how = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', [...how, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { key, cert };
}

/** The API and the repositories of a forge on one name, by TLS. */
function tlsBefore(api: string, git: string, files: { readonly key: string; readonly cert: string }): Server {
  const secrets = { key: readFileSync(files.key), cert: readFileSync(files.cert) };
  return createTlsServer(secrets, (incoming, outgoing) => {
    const target = /\.git\//.test(incoming.url ?? '') ? git : api;
    const { method = 'GET', headers } = incoming;
    const sent = sendRequest(`${target}${incoming.url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    sent.on('error', () => outgoing.destroy());
    incoming.pipe(sent);
  }) as unknown as Server;
}

it.runIf(HAS_OPENSSL)(
  'a forge behind a proxy, with a certificate of its own: requests, git and hooks get through',
  { timeout: 60_000 },
  async (test) => {
    const { ground, forge, origin, server, opened, write, close } = await openDelivery('repoissues');
    test.onTestFinished(close);
    const certificate = makeCertificate(ground, 'forge.example');
    const front = tlsBefore(forge.front.url, server.origin, certificate);
    test.onTestFinished(() => void (front.closeAllConnections(), front.close()));
    const proxy = await startProxy(await listening(front), test);
    const id = forge.addIssue('Behind a proxy');
    await write('env | grep -E "PROXY|CERTS" | sort > seen');
    const workflow = (await ground.read('WORKFLOW.md')).replaceAll(forge.front.url, 'https://forge.example');
    await ground.write('WORKFLOW.md', workflow.replaceAll(server.origin, 'https://forge.example'));
    const variables = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: certificate.cert, NO_PROXY: '127.0.0.1' };
    const daemon = await ground.start(['--port', '0'], { env: { ...forgeEnv(forge), ...variables } });
    await daemon.record('handoff transition succeeded, releasing claim', { issue_id: id });
    expect(opened()).toHaveLength(1);
    const seen = await origin.git('origin.git', 'show', `foray/${id}:seen`);
    expect(seen.split('\n')).toEqual(
      Object.entries(variables)
        .map(([name, value]) => `${name}=${value}`)
        .toSorted(),
    );
    expect(new Set(proxy.asked)).toEqual(new Set(['forge.example:443']));
  },
);
