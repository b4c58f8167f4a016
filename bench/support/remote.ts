import { request as send, Agent } from 'node:http';
import { startFakeGithub } from '../../test/fakes/github.ts';
import type { RecordedRequest } from '../../test/support/http-server.ts';

const LABELS = ['backlog', 'review', 'done'];

/** A loopback remote of the kind `repoissues` with open issues. */
export async function buildGithub(size: number) {
  const fake = await startFakeGithub({ labels: LABELS, limits: { core: 10_000_000, search: 100_000 } });
  for (let index = 1; index <= size; index += 1) {
    fake.addIssue({ title: `Issue ${index}`, body: 'Lorem ipsum. '.repeat(20), labels: ['backlog'] });
  }
  const tracker = [
    'tracker:',
    '  kind: repoissues',
    `  endpoint: ${fake.url}`,
    '  project: acme/widgets',
    '  api_key: $BENCH_TOKEN',
    '  active_states: [backlog]',
    '  terminal_states: [done]',
    '  handoff_state: review',
  ].join('\n');
  return {
    tracker,
    env: { BENCH_TOKEN: fake.token },
    requests: (): readonly RecordedRequest[] => [...fake.requests],
    /** Seconds that the same requests take when they are only sent, so many at once. */
    replay: (requests: readonly RecordedRequest[], atOnce: number) => replay(fake.url, requests, atOnce),
    close: () => fake.close().catch(() => {}),
  };
}

async function replay(url: string, requests: readonly RecordedRequest[], atOnce: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const left = requests.toReversed();
  const begin = performance.now();
  const client = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await once(url, next, agent);
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  agent.destroy();
  return (performance.now() - begin) / 1000;
}

function once(url: string, { method, path, query, headers, body }: RecordedRequest, agent: Agent): Promise<void> {
  const search = query.size > 0 ? `?${query.toString()}` : '';
  const kept = Object.fromEntries(
    Object.entries(headers).filter(([name]) => !['connection', 'host', 'if-none-match'].includes(name)),
  );
  return new Promise((resolve, reject) => {
    send(`${url}${path}${search}`, { method, agent, headers: kept }, (response) => {
      response.resume();
      response.once('end', resolve);
    })
      .once('error', reject)
      .end(body);
  });
}
