import { z } from 'zod';

/** What stands on the server before the recorded requests are made. */
export interface Scene {
  readonly owner: string;
  readonly project: string;
  /** Carries a label and a comment, depends on two others. */
  readonly issue: number;
  /** Of the repository, none of the issue. */
  readonly spareLabel: number;
  /** A review with a line, two statuses, a label set; can be merged. */
  readonly pull: number;
  readonly review: number;
  readonly sha: string;
  readonly branch: string;
  readonly draft: number;
  readonly conflicting: number;
  /** The account of the service, and one that may write. */
  readonly self: string;
  readonly writer: string;
  /** A branch without a pull request. */
  readonly unproposed: string;
}

/** One request of the adapter. `as` is another token than the service's own. */
export interface Step {
  readonly name: string;
  readonly method: string;
  readonly route: string;
  readonly body?: unknown;
  readonly as?: 'nobody' | 'tracker only' | 'admin';
}

/** Every route that the adapter uses, in an order in which each finds what it needs. */
export function stepsOf(scene: Scene): readonly Step[] {
  const repo = `/repos/${scene.project}`;
  const issue = `${repo}/issues/${String(scene.issue)}`;
  const pull = `${repo}/pulls/${String(scene.pull)}`;
  const get = (name: string, route: string, more: Partial<Step> = {}): Step => ({ name, method: 'GET', route, ...more });
  const merge = (name: string, number: number, head: string, more: Partial<Step> = {}): Step => ({
    name,
    method: 'POST',
    route: `${repo}/pulls/${String(number)}/merge`,
    body: { Do: 'squash', head_commit_id: head },
    ...more,
  });
  return [
    get('user', '/user'),
    get('user of a wrong token', '/user', { as: 'nobody' }),
    get('repository', repo),
    get('missing repository', '/repos/nobody/nothing'),
    get('own permission', `${repo}/collaborators/${scene.self}/permission`),
    get('permission of another', `${repo}/collaborators/${scene.writer}/permission`),
    get('permission of another, for an administrator', `${repo}/collaborators/${scene.writer}/permission`, { as: 'admin' }),
    get('permission of nobody', `${repo}/collaborators/no-such-user/permission`, { as: 'admin' }),
    get('labels', `${repo}/labels?limit=1`),
    get('labels past the last page', `${repo}/labels?limit=50&page=99`),
    get('organization labels', `/orgs/${scene.owner}/labels?page=1&limit=50`),
    get('issues', `${repo}/issues?state=open&type=issues&limit=1`),
    get('issues on one page', `${repo}/issues?state=open&type=issues&limit=50`),
    get('issue', issue),
    get('missing issue', `${repo}/issues/999999`),
    get('comments', `${issue}/comments`),
    get('dependencies', `${issue}/dependencies?limit=1`),
    get('issue labels', `${issue}/labels`),
    get('timeline', `${repo}/issues/${String(scene.pull)}/timeline?page=1&limit=50`),
    get('timeline of a missing issue', `${repo}/issues/999999/timeline?page=1&limit=50`),
    get('pulls', `${repo}/pulls?page=1&limit=1`),
    get('pull', pull),
    get('missing pull', `${repo}/pulls/999999`),
    get('reviews', `${pull}/reviews?page=1&limit=50`),
    get('review comments', `${pull}/reviews/${String(scene.review)}/comments?page=1&limit=50`),
    get('status', `${repo}/commits/${scene.sha}/status?page=1&limit=1`),
    get('status of an unknown ref', `${repo}/commits/no-such-ref/status?page=1&limit=50`),
    { name: 'create comment', method: 'POST', route: `${issue}/comments`, body: { body: 'a word' } },
    { name: 'create label', method: 'POST', route: `${repo}/labels`, body: { name: 'made', color: '#cccccc' } },
    { name: 'add label', method: 'POST', route: `${issue}/labels`, body: { labels: [scene.spareLabel] } },
    { name: 'add unknown label', method: 'POST', route: `${issue}/labels`, body: { labels: ['no-such-label'] } },
    { name: 'remove label', method: 'DELETE', route: `${issue}/labels/${String(scene.spareLabel)}` },
    { name: 'remove unknown label', method: 'DELETE', route: `${issue}/labels/999999` },
    { name: 'close blocked issue', method: 'PATCH', route: issue, body: { state: 'closed' } },
    { name: 'edit issue', method: 'PATCH', route: issue, body: { state: 'open' } },
    { name: 'create pull', method: 'POST', route: `${repo}/pulls`, body: { head: scene.unproposed, base: 'main', title: 'new' } },
    {
      name: 'create pull twice',
      method: 'POST',
      route: `${repo}/pulls`,
      body: { head: scene.unproposed, base: 'main', title: 'new' },
    },
    {
      name: 'create pull of no branch',
      method: 'POST',
      route: `${repo}/pulls`,
      body: { head: 'nowhere', base: 'main', title: 'new' },
    },
    merge('merge without the scope', scene.pull, scene.sha, { as: 'tracker only' }),
    merge('merge draft', scene.draft, scene.sha),
    merge('merge missing pull', 999_999, scene.sha),
    merge('merge stale head', scene.pull, '0'.repeat(40)),
    merge('merge what conflicts', scene.conflicting, ''),
    merge('merge', scene.pull, scene.sha),
    merge('merge again', scene.pull, scene.sha),
    { name: 'delete branch', method: 'DELETE', route: `${repo}/branches/${encodeURIComponent(scene.branch)}` },
    { name: 'delete missing branch', method: 'DELETE', route: `${repo}/branches/${encodeURIComponent(scene.branch)}` },
    { name: 'delete default branch', method: 'DELETE', route: `${repo}/branches/main` },
  ];
}

const ANSWER = z.object({ status: z.number(), headers: z.record(z.string(), z.string()), body: z.unknown() });
export type RecordedAnswer = z.output<typeof ANSWER>;
export const RECORDING = z.object({ version: z.string(), answers: z.record(z.string(), ANSWER) });

/** What says nothing about the vendor: the time, the length, and how the connection is kept. */
const PASSING = ['date', 'content-length', 'connection', 'keep-alive', 'set-cookie', 'transfer-encoding'];

/** The answer of a server, as it is kept and compared. */
export async function answerOf(response: Response): Promise<RecordedAnswer> {
  const kept = [...response.headers].filter(([name]) => !PASSING.includes(name));
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return { status: response.status, headers: Object.fromEntries(kept), body: isJson ? (JSON.parse(text) as unknown) : text };
}
