import type { Tracker } from '../../../src/ports/tracker.ts';
import { provider } from '../../../src/providers/gitea/index.ts';
import { depsWith, type LogRecord } from '../../fakes/adapter-deps.ts';
import { settingsWith } from '../../support/settings.ts';
import type { Account, Ground } from './ground.ts';
import { must } from './ground.ts';

export interface NewPull {
  readonly branch: string;
  readonly draft?: boolean;
  /** What it adds; by default FILE. */
  readonly file?: string;
  readonly content?: string;
}

export interface WirePull {
  readonly head: { readonly sha: string; readonly ref: string };
  readonly merged: boolean;
  readonly mergeable: boolean;
  readonly requested_reviewers?: readonly unknown[] | null;
}

/** One repository of the server and what people do in it, through the vendor's own API. */
export interface Repository {
  readonly project: string;
  readonly key: { readonly owner: string; readonly repo: string };
  /** The route below the repository. */
  at(route: string): string;
  addLabel(name: string): Promise<number>;
  labelId(name: string): Promise<number>;
  addIssue(fields: Readonly<Record<string, unknown>>): Promise<string>;
  issue(id: string): Promise<{ readonly state: string; readonly labels: readonly { readonly name: string }[] }>;
  labelsOf(id: string | number): Promise<readonly string[]>;
  setLabels(id: string | number, names: readonly string[], by?: Account): Promise<void>;
  /** A branch with one changed file, and a pull request of it by the service's account. */
  openPull(pull: NewPull): Promise<number>;
  /** One more commit on a branch. */
  push(branch: string, content: string): Promise<void>;
  pull(number: number): Promise<WirePull>;
  status(sha: string, fields: Readonly<Record<string, unknown>>): Promise<void>;
  review(number: number, by: Account, fields: Readonly<Record<string, unknown>>): Promise<number>;
  branches(): Promise<readonly string[]>;
}

/** The file that a branch of `openPull` adds unless told otherwise. */
export const FILE = 'a.txt';

export function openRepository({ call, bot }: Ground, project: string): Repository {
  const [owner = '', repo = ''] = project.split('/');
  const at = (route: string) => `/repos/${project}${route}`;
  const labels = async (route: string) => (await must(call, 'GET', at(route))) as { id: number; name: string }[];
  const addLabel = async (name: string) =>
    ((await must(call, 'POST', at('/labels'), { name, color: '#123456' })) as { id: number }).id;
  const labelId = async (name: string): Promise<number> => {
    for (let page = 1; ; page += 1) {
      const found = await labels(`/labels?limit=50&page=${String(page)}`);
      const known = found.find((label) => label.name === name);
      if (known) return known.id;
      if (found.length === 0) return addLabel(name);
    }
  };
  return {
    project,
    key: { owner, repo },
    at,
    addLabel,
    labelId,
    addIssue: async (fields) => String(((await must(call, 'POST', at('/issues'), fields)) as { number: number }).number),
    issue: async (id) => (await must(call, 'GET', at(`/issues/${id}`))) as Awaited<ReturnType<Repository['issue']>>,
    labelsOf: async (id) => (await labels(`/issues/${String(id)}/labels`)).map(({ name }) => name).toSorted(),
    setLabels: async (id, names, by) => {
      const ids = await Promise.all(names.map(labelId));
      await must(call, 'PUT', at(`/issues/${String(id)}/labels`), { labels: ids }, by?.token);
    },
    openPull: async ({ branch, draft = false, file: name = FILE, content = `text of ${branch}\n` }) => {
      const file = { content: base64(content), message: branch, new_branch: branch, branch: 'main' };
      await must(call, 'POST', at(`/contents/${name}`), file);
      const order = { title: draft ? `WIP: ${branch}` : branch, head: branch, base: 'main' };
      return ((await must(call, 'POST', at('/pulls'), order, bot.token)) as { number: number }).number;
    },
    push: async (branch, content) => {
      const ref = encodeURIComponent(branch);
      const { sha } = (await must(call, 'GET', at(`/contents/${FILE}?ref=${ref}`))) as { sha: string };
      await must(call, 'PUT', at(`/contents/${FILE}`), { content: base64(content), message: 'more', branch, sha });
    },
    pull: async (number) => (await must(call, 'GET', at(`/pulls/${String(number)}`))) as WirePull,
    status: async (sha, fields) => void (await must(call, 'POST', at(`/statuses/${sha}`), fields)),
    review: async (number, by, fields) =>
      ((await must(call, 'POST', at(`/pulls/${String(number)}/reviews`), fields, by.token)) as { id: number }).id,
    branches: async () => ((await must(call, 'GET', at('/branches?limit=50'))) as { name: string }[]).map(({ name }) => name),
  };
}

export interface Subject {
  readonly tracker: Tracker;
  readonly logged: readonly LogRecord[];
}

/** The adapter under test at work on a repository, with what it logged. */
export function openTracker(ground: Ground, project: string, changes: object = {}): Subject {
  const { deps, records: logged } = depsWith();
  const states = { activeStates: ['todo', 'doing'], terminalStates: ['done', 'wontfix'], handoffState: 'review' };
  const connection = { kind: 'selfhosted', project, apiKey: ground.bot.token, endpoint: ground.url };
  return {
    tracker: provider.createTracker(settingsWith({ tracker: { ...connection, ...states, ...changes } }).tracker, deps),
    logged,
  };
}

/** The merge-request and CI roles under test, and what opens requests. */
export function openRoles(ground: Ground, { apiKey = ground.bot.token, endpoint = ground.url } = {}) {
  const { deps, records: logged } = depsWith();
  const connection = { kind: 'selfhosted', name: 'gitea', apiKey, endpoint, project: '', userAgent: 'svc/dev' };
  return {
    scm: provider.createScm!(connection, deps),
    ci: provider.createCi!(connection, deps),
    opener: provider.createRequests!(connection, deps),
    logged,
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
