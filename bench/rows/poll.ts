import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inDispatchOrder } from '../../src/domain/rules/dispatch-order.ts';
import type { TrackerSettings } from '../../src/domain/model/settings.ts';
import { provider } from '../../src/providers/github/index.ts';
import { none, timesFloor, type Row } from '../table.ts';

const ISSUES = 10_000;
const PAGE = 50;
/** In turns, and the best of each counts: what else the machine does then falls on all of them alike. */
const ROUNDS = 15;

/** A poll of many open issues, and the same once more with nothing changed. */
export async function pollRows(): Promise<Row[]> {
  const remote = await startRemote();
  const [firsts, agains, floors, counted] = [[] as number[], [] as number[], [] as number[], [] as number[]];
  for (let round = 0; round < ROUNDS; round += 1) {
    floors.push(await timed(() => readBare(remote.url)));
    const tracker = provider.createTracker(settingsFor(remote.url), DEPS);
    firsts.push(await timed(() => ranked(tracker)));
    const before = remote.counted();
    agains.push(await timed(() => ranked(tracker)));
    counted.push(remote.counted() - before);
  }
  remote.close();
  const first = Math.min(...firsts);
  return [
    timesFloor(
      `poll of 10,000 issues over 200 pages, to ranked candidates (best of ${ROUNDS})`,
      'ms',
      first,
      Math.min(...floors),
      1.25,
    ),
    timesFloor(`the same poll again, nothing changed (best of ${ROUNDS})`, 'ms', Math.min(...agains), first, 0.5),
    none('requests of that poll that count against the limit', Math.max(...counted)),
  ];
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  globalThis.gc?.();
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

async function ranked(tracker: ReturnType<typeof provider.createTracker>): Promise<void> {
  const found = inDispatchOrder(await tracker.fetchCandidateIssues(new AbortController().signal));
  if (found.length !== ISSUES) throw new Error(`${found.length} of ${ISSUES} candidates`);
}

/** The same pages, fetched and parsed one after the other. */
async function readBare(url: string): Promise<void> {
  for (let page = 1; page <= ISSUES / PAGE; page += 1) {
    const answer = await fetch(`${url}/repos/acme/shop/issues?state=open&per_page=${PAGE}&page=${page}`);
    JSON.parse(await answer.text());
  }
}

/** Serves prepared pages with links and entity tags, and nothing else. */
async function startRemote() {
  const pages = Array.from({ length: ISSUES / PAGE }, (_, index) => Buffer.from(JSON.stringify(pageOf(index))));
  let counted = 0;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const page = Number(url.searchParams.get('page') ?? 1);
    const tag = `"page-${page}"`;
    if (request.headers['if-none-match'] === tag) {
      response.writeHead(304, { etag: tag, ...linksOf(url, page) }).end();
      return;
    }
    counted += 1;
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', etag: tag, ...linksOf(url, page) });
    response.end(pages[page - 1] ?? '[]');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, counted: () => counted, close: () => server.close() };

  function linksOf(at: URL, page: number): Record<string, string> {
    if (page >= pages.length) return {};
    const next = new URL(at.pathname + at.search, url);
    next.searchParams.set('page', String(page + 1));
    return { link: `<${next.href}>; rel="next"` };
  }
}

function pageOf(index: number): unknown[] {
  return Array.from({ length: PAGE }, (_, at) => {
    const number = index * PAGE + at + 1;
    return {
      id: 1_000_000 + number,
      node_id: `I_${number}`,
      number,
      title: `Issue ${number}`,
      body: 'Lorem ipsum dolor sit amet. '.repeat(20),
      state: 'open',
      html_url: `https://github.com/acme/shop/issues/${number}`,
      user: { login: 'someone', id: 7, type: 'User' },
      author_association: 'MEMBER',
      labels: [
        { id: 1, name: 'backlog', color: 'ffffff' },
        { id: 2, name: 'bug', color: 'ff0000' },
      ],
      assignees: [],
      comments: 0,
      created_at: new Date(1_700_000_000_000 + number * 60_000).toISOString(),
      updated_at: new Date(1_700_000_000_000 + number * 60_000).toISOString(),
    };
  });
}

const silent = (): void => {};
const DEPS = {
  version: 'bench',
  workflowDir: '.',
  clock: { now: Date.now },
  logger: { debug: silent, info: silent, warn: silent, error: silent },
};

function settingsFor(endpoint: string): TrackerSettings {
  return {
    kind: 'repoissues',
    endpoint,
    apiKey: 'token-of-the-benchmark',
    project: 'acme/shop',
    activeStates: ['backlog'],
    terminalStates: ['done'],
    handoffState: 'review',
    inProgressState: null,
    noChangeState: null,
    queryFilter: '',
    comments: { onDispatch: false, onCompletion: false, onFailure: false },
    options: {},
  } as never as TrackerSettings;
}
