import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The project that the demo pushes to. */
export const DEMO_PROJECT = { owner: 'demo', repo: 'shop' } as const;

/** A merge request of the demo. Everything about it follows from its pushes and the time that has passed. */
export interface DemoRequest {
  readonly number: number;
  readonly issue: string;
  readonly pushes: readonly { readonly sha: string; readonly at: number }[];
  readonly merged: boolean;
}

/** How long the made-up checks and the made-up reviewer take. */
export interface DemoTimes {
  readonly checksMs: number;
  readonly reviewMs: number;
}

export interface DemoForge {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A stand-in for a forge, as small as a demo needs: merge requests whose checks are red at first, whose reviewer asks for
 * a change and then approves, and which can be merged. It speaks the dialect of Gitea, on this machine only.
 */
export async function startDemoForge(times: DemoTimes, now: () => number): Promise<DemoForge> {
  const requests: DemoRequest[] = [];
  const server = createServer((request, response) => {
    answer(requests, { request, response, times, now: now() }).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Red at first, green after the next push. */
export function checksOf({ pushes }: DemoRequest, sha: string, times: DemoTimes, now: number) {
  const index = pushes.findIndex((push) => push.sha === sha);
  const at = pushes[index]?.at;
  if (at === undefined) return [];
  const isOver = now - at >= times.checksMs;
  const status = !isOver ? 'pending' : index === 0 ? 'failure' : 'success';
  const description = status === 'failure' ? 'FAIL search.test.ts: expected 20 results, got 19' : '';
  return [{ context: 'unit tests', status, description, target_url: '' }];
}

/** Somebody asks for a change when the checks are green, and approves the next push. */
export function reviewsOf({ number, pushes }: DemoRequest, times: DemoTimes, now: number) {
  const said = [
    { push: pushes[1], state: 'REQUEST_CHANGES', body: 'Please name the new function after what it does.' },
    { push: pushes[2], state: 'APPROVED', body: '' },
  ];
  return said.flatMap(({ push, state, body }, index) => {
    const at = push === undefined ? Infinity : push.at + times.checksMs + times.reviewMs;
    if (at > now) return [];
    const submitted = new Date(at).toISOString();
    return [{ id: number * 10 + index, user: REVIEWER, state, body, official: true, submitted_at: submitted, comments_count: 0 }];
  });
}

const REVIEWER = { login: 'rita' };

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly times: DemoTimes;
  readonly now: number;
}

async function answer(requests: DemoRequest[], { request, response, times, now }: Exchange): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://demo');
  const send = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  if (pathname === '/push') return send(200, pushed(requests, await bodyOf(request), now));
  const [what = '', name = '', part = ''] = pathname
    .replace(`/api/v1/repos/${DEMO_PROJECT.owner}/${DEMO_PROJECT.repo}`, '')
    .slice(1)
    .split('/');
  if (pathname === '/api/v1/user') return send(200, { login: 'foray' });
  if (what === '') return send(200, { default_branch: 'main', permissions: { push: true } });
  if (what === 'branches') {
    const branch = branchNamed(requests, decodeURIComponent(name));
    return branch === null ? send(404, { message: 'not found' }) : send(200, branch);
  }
  if (what === 'commits') {
    return send(200, { statuses: requests.flatMap((one) => checksOf(one, name, times, now)) });
  }
  const found = requests.find(({ number }) => number === Number(name));
  if (what !== 'pulls' || found === undefined) return send(404, { message: 'not found' });
  if (part === 'merge') {
    requests[requests.indexOf(found)] = { ...found, merged: true };
    return send(200, {});
  }
  if (part === 'reviews') return send(200, pathname.endsWith('/reviews') ? reviewsOf(found, times, now) : []);
  send(200, wireOf(found, times, now));
}

/** It stays as it was last pushed, whoever deletes it. */
function branchNamed(requests: readonly DemoRequest[], name: string): object | null {
  const head = requests.findLast((request) => branchOf(request) === name)?.pushes.at(-1);
  return head === undefined ? null : { name, commit: { id: head.sha } };
}

/** What a run of the demo does with its work: a new commit, and a request where there is none. Gives the content of scm.json. */
function pushed(requests: DemoRequest[], issue: string, now: number): object {
  const open = requests.findIndex((request) => request.issue === issue && !request.merged);
  const before = requests[open] ?? { number: requests.length + 1, issue, pushes: [], merged: false };
  const sha = createHash('sha1').update(`${issue} ${now} ${before.pushes.length}`).digest('hex');
  const request = { ...before, pushes: [...before.pushes, { sha, at: now }] };
  if (open < 0) requests.push(request);
  else requests[open] = request;
  return { branch: branchOf(request), sha, pushed_at: new Date(now).toISOString(), pr_number: request.number, ...DEMO_PROJECT };
}

function wireOf(request: DemoRequest, times: DemoTimes, now: number): object {
  const isApproved = reviewsOf(request, times, now).some(({ state }) => state === 'APPROVED');
  return {
    state: request.merged ? 'closed' : 'open',
    merged: request.merged,
    mergeable: true,
    draft: false,
    head: { sha: request.pushes.at(-1)?.sha, ref: branchOf(request), label: branchOf(request), repo_id: 1 },
    base: { ref: 'main', repo_id: 1 },
    labels: [],
    requested_reviewers: isApproved ? [] : [REVIEWER],
  };
}

function branchOf({ issue }: DemoRequest): string {
  return `foray/${issue}`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8').trim();
}
