import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TrackerSettings } from '../../src/domain/model/settings.ts';
import type { Provider } from '../../src/ports/provider.ts';
import type { Logger } from '../../src/ports/runtime.ts';
import type { Tracker } from '../../src/ports/tracker.ts';
import { screenPeople } from '../../src/orchestrator/screened-tracker.ts';
import { loadProviders } from '../../src/providers/registry.ts';
import { startFakeGitea } from '../fakes/gitea.ts';
import { startFakeGithub } from '../fakes/github.ts';
import { startFakeGitlab } from '../fakes/gitlab.ts';
import { startFakeJira } from '../fakes/jira.ts';
import { startFakeLinear } from '../fakes/linear.ts';
import { settingsWith } from '../support/settings.ts';

const PROVIDERS = await loadProviders();

/** A remote with people: `ada` may write to the project, `eve` may not. Its own account is whoever the token belongs to. */
export interface Remote {
  readonly settings: Partial<TrackerSettings>;
  /** In an active state. */
  add(author: 'ada' | 'eve', labels?: readonly string[]): Promise<string>;
  comment(id: string, author: 'ada' | 'eve', body: string): Promise<void>;
  edit(id: string, title: string): Promise<void>;
  label(id: string, name: string): Promise<void>;
  unlabel(id: string, name: string): Promise<void>;
  /** Requests for who may write. */
  asked(): number;
  close(): Promise<void>;
}

const STATES = { activeStates: ['todo'], terminalStates: ['done'], handoffState: 'review' };

/** One of each kind. Names are those that `tracker.authors` takes. */
export const REMOTES: Readonly<Record<string, () => Promise<Remote>>> = {
  async repoissues() {
    const fake = await startFakeGithub({ labels: ['todo', 'done', 'review'], limits: { core: 10_000 } });
    fake.addStranger('eve');
    return {
      settings: { kind: 'repoissues', endpoint: fake.url, apiKey: fake.token, project: 'acme/widgets', ...STATES },
      add: async (author, labels = []) => String(fake.addIssue({ author, labels: ['todo', ...labels] }).number),
      comment: async (id, author, body) => void fake.addComment(Number(id), { author, body }),
      edit: async (id, title) => fake.editIssue(id, { title }),
      label: async (id, name) => fake.label(id, name),
      unlabel: async (id, name) => fake.unlabel(id, name),
      asked: () => 0,
      close: () => fake.close(),
    };
  },
  async nsproject() {
    const fake = await startFakeGitlab();
    fake.merges.member('ada', 30);
    fake.merges.member('eve', 20);
    return {
      settings: { kind: 'nsproject', endpoint: fake.url, apiKey: fake.token, project: fake.project.path, ...STATES },
      add: async (author, labels = []) => String(fake.addIssue({ author, labels: ['todo', ...labels] }).iid),
      comment: async (id, author, body) => void fake.addNote(Number(id), { author, body }),
      edit: async (id, title) => fake.editIssue(Number(id), { title }),
      label: async (id, name) => fake.editIssue(Number(id), { addLabels: [name] }),
      unlabel: async (id, name) => fake.editIssue(Number(id), { removeLabels: [name] }),
      asked: () => fake.requests.filter(({ path: route }) => route.includes('/members/all/')).length,
      close: () => fake.close(),
    };
  },
  async selfhosted() {
    const fake = await startFakeGitea();
    fake.permit('ada', 'write');
    const labelsOf = (id: string) => fake.issue(Number(id)).labels;
    return {
      settings: { kind: 'selfhosted', endpoint: fake.url, apiKey: fake.token, project: fake.project, ...STATES },
      add: async (author, labels = []) => String(fake.addIssue({ author, labels: ['todo', ...labels] })),
      comment: async (id, author, body) => fake.comment(Number(id), author, body),
      edit: async (id, title) => fake.editIssue(Number(id), { title }),
      label: async (id, name) => fake.editIssue(Number(id), { labels: [...labelsOf(id), name] }),
      unlabel: async (id, name) => fake.editIssue(Number(id), { labels: labelsOf(id).filter((label) => label !== name) }),
      asked: () => fake.requests.filter(({ path: route }) => route.endsWith('/permission')).length,
      close: () => fake.close(),
    };
  },
  async wfboard() {
    const fake = await startFakeJira({ statuses: ['todo', 'done', 'review'] });
    const labelsOf = (id: string) => fake.issue(id).labels;
    return {
      settings: { kind: 'wfboard', endpoint: fake.url, apiKey: fake.apiKey, project: fake.project, ...STATES },
      add: async (author, labels = []) => fake.addIssue({ status: 'todo', creator: author, labels }),
      comment: async (id, author, body) => fake.comment(id, author, body),
      edit: async (id, summary) => fake.editIssue(id, { summary }),
      label: async (id, name) => fake.editIssue(id, { labels: [...labelsOf(id), name] }),
      unlabel: async (id, name) => fake.editIssue(id, { labels: labelsOf(id).filter((label) => label !== name) }),
      asked: () => 0,
      close: () => fake.close(),
    };
  },
  async graphql() {
    const fake = await startFakeLinear();
    const states = { activeStates: ['Todo'], terminalStates: ['Done'], handoffState: 'In Review' };
    const settings = { kind: 'graphql', endpoint: fake.url, apiKey: fake.apiKey, project: fake.project, ...states };
    const { tracker } = screened({ settings }, {});
    return {
      settings,
      add: async (creator, labels = []) => fake.addIssue({ state: 'Todo', creator, labels }).id,
      comment: async (id, author, body) => fake.comment(id, { author, body }),
      edit: async (id, title) => fake.editIssue(id, { title }),
      label: async (id, name) => tracker.labels?.add(id, name, new AbortController().signal),
      unlabel: async (id, name) => tracker.labels?.remove(id, name, new AbortController().signal),
      asked: () => 0,
      close: () => fake.close(),
    };
  },
  async file() {
    const folder = await mkdtemp(path.join(tmpdir(), 'foray-trust-'));
    const file = path.join(folder, 'issues.json');
    const read = async () => JSON.parse(await readFile(file, 'utf8')) as FileIssue[];
    const change = async (id: string, edit: (issue: FileIssue) => void) => {
      const issues = await read();
      issues.filter((issue) => issue.id === id).forEach(edit);
      await writeFile(file, JSON.stringify(issues));
    };
    await writeFile(file, '[]');
    return {
      settings: { kind: 'file', options: { path: file }, ...STATES },
      async add(author, labels = []) {
        const issues = await read();
        const id = String(issues.length + 1);
        const issue = {
          id,
          identifier: `F-${id}`,
          title: `Issue ${id}`,
          state: 'todo',
          author,
          labels: [...labels],
          comments: [],
        };
        await writeFile(file, JSON.stringify([...issues, issue]));
        return id;
      },
      comment: (id, author, body) => change(id, (issue) => void issue.comments.push({ author, body })),
      edit: (id, title) => change(id, (issue) => void (issue.title = title)),
      label: (id, name) => change(id, (issue) => void issue.labels.push(name)),
      unlabel: (id, name) => change(id, (issue) => void (issue.labels = issue.labels.filter((label) => label !== name))),
      asked: () => 0,
      close: () => rm(folder, { recursive: true }),
    };
  },
};

interface FileIssue {
  readonly id: string;
  title: string;
  labels: string[];
  readonly comments: { author: string; body: string }[];
}

export const KINDS = Object.keys(REMOTES);
export const FORGES = ['repoissues', 'nsproject', 'selfhosted'];

export interface Screened {
  readonly tracker: Tracker;
  readonly warnings: string[];
}

/** The tracker of a remote as the daemon builds it. */
export function screened(
  remote: Pick<Remote, 'settings'>,
  settings: Partial<TrackerSettings>,
  now: () => number = () => 0,
): Screened {
  const warnings: string[] = [];
  const quiet = (): void => {};
  const logger: Logger = { debug: quiet, info: quiet, error: quiet, warn: (message) => void warnings.push(message) };
  const { tracker: written } = settingsWith({ tracker: { ...remote.settings, ...settings } });
  const provider = PROVIDERS.find(({ kind }) => kind === written.kind) as Provider;
  const clock = { now };
  const bare = provider.createTracker(written, { version: 'dev', workflowDir: '/', clock, logger });
  const tellsCollaborators = provider.tellsCollaborators === true;
  const tracker = screenPeople(bare, { settings: written, tellsCollaborators, clock, logger, digest: (text) => text });
  return { tracker, warnings };
}
