import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { startFakeGithub } from '../../test/fakes/github.ts';
import type { RecordedRequest } from '../../test/support/http-server.ts';
import { newFolder } from './folders.ts';

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

/** In a process of its own, as the daemon is: the remote answers from this one. */
const REPLAY = `
  const { Agent, request } = require('node:http');
  const { url, atOnce, requests } = JSON.parse(require('node:fs').readFileSync(process.argv[1], 'utf8'));
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const once = ({ method, target, headers, body }) => new Promise((resolve, reject) => {
    const sent = request(url + target, { method, agent, headers }, (response) => response.resume().once('end', resolve));
    sent.once('error', reject).end(body);
  });
  const client = async () => { for (let next = requests.shift(); next; next = requests.shift()) await once(next); };
  const begin = performance.now();
  Promise.all(Array.from({ length: atOnce }, client)).then(() => {
    console.log((performance.now() - begin) / 1000);
    process.exit(0);
  });
`;

async function replay(url: string, requests: readonly RecordedRequest[], atOnce: number): Promise<number> {
  const file = path.join(await newFolder(), 'requests.json');
  await writeFile(file, JSON.stringify({ url, atOnce, requests: requests.map(plain) }));
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', REPLAY, file]);
  return Number(stdout);
}

function plain({ method, path: target, query, headers, body }: RecordedRequest): object {
  const search = query.size > 0 ? `?${query.toString()}` : '';
  const kept = Object.entries(headers).filter(([name]) => !['connection', 'host'].includes(name));
  return { method, target: `${target}${search}`, headers: Object.fromEntries(kept), body };
}
