import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { trackerContract } from '../../../test/contracts/tracker.ts';
import type { RemoteIssue, SeedIssue, TrackerHarness } from '../../../test/contracts/tracker.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { createLogRecorder } from '../../../test/support/workspaces.ts';
import { provider } from './index.ts';

interface StoredRecord {
  readonly id: string;
  readonly state: string;
  readonly labels?: readonly string[];
  readonly comments?: readonly { readonly body: string }[];
  readonly [key: string]: unknown;
}

/** How one form of the source is written and read without the provider. */
interface Form {
  readonly location: string;
  load(): Promise<StoredRecord[]>;
  save(records: readonly StoredRecord[]): Promise<void>;
}

trackerContract('file (JSON)', () => createHarness((directory) => jsonForm(path.join(directory, 'issues.json'))));
trackerContract('file (Markdown)', () => createHarness((directory) => markdownForm(directory)));

function jsonForm(file: string): Form {
  return {
    location: file,
    load: async () => JSON.parse(await readFile(file, 'utf8')) as StoredRecord[],
    save: (records) => writeFile(file, JSON.stringify(records, null, 2)),
  };
}

function markdownForm(directory: string): Form {
  return {
    location: directory,
    async load() {
      const names = (await readdir(directory)).filter((name) => name.endsWith('.md'));
      const texts = await Promise.all(names.map((name) => readFile(path.join(directory, name), 'utf8')));
      return texts.map((text) => parse(text.split(/^---$/m)[1] ?? '') as StoredRecord);
    },
    async save(records) {
      const write = ({ description, ...matter }: StoredRecord): Promise<void> =>
        writeFile(path.join(directory, `${matter.id}.md`), `---\n${stringify(matter)}---\n\n${String(description ?? '')}\n`);
      await Promise.all(records.map(write));
    },
  };
}

async function createHarness(createForm: (directory: string) => Form): Promise<TrackerHarness> {
  const directory = await mkdtemp(path.join(tmpdir(), 'file-tracker-'));
  const form = createForm(directory);
  await form.save([]);
  const { tracker: settings } = settingsWith({ tracker: { options: { path: form.location } } });
  const deps = { version: 'dev', workflowDir: directory, clock: { now: () => Date.now() }, logger: createLogRecorder() };
  const find = async (id: string): Promise<StoredRecord> =>
    (await form.load()).find((record) => record.id === id) as StoredRecord;
  return {
    tracker: provider.createTracker(settings, deps),
    states: { active: settings.activeStates, terminal: settings.terminalStates, handoff: 'review' },
    abilities: ['assignee', 'priority', 'issueType', 'branchName', 'parent', 'blockedBy'],
    missing: { id: 'id-99', identifier: 'ABC-99' },
    async seed(issues) {
      const records = issues.map((issue, index) => recordOf(issue, index));
      await form.save(records);
      return records.map(({ id, identifier }) => ({ id, identifier: String(identifier) }));
    },
    remote: {
      edit: async (id, change) =>
        form.save((await form.load()).map((record) => (record.id === id ? { ...record, ...change } : record))),
      find: async (id) => remoteOf(await find(id)),
    },
    cleanUp: () => rm(directory, { recursive: true }),
  };
}

function recordOf(issue: SeedIssue, index: number): StoredRecord {
  const { issueType, branchName, blockedBy, parent, comments, createdAt, ...same } = issue;
  return {
    id: `id-${index}`,
    identifier: `ABC-${index}`,
    ...same,
    ...(issueType && { issue_type: issueType }),
    ...(branchName && { branch_name: branchName }),
    ...(blockedBy && { blocked_by: blockedBy.map((other) => ({ id: `id-${other}` })) }),
    ...(parent !== undefined && { parent: `ABC-${parent}` }),
    ...(createdAt && { created_at: createdAt }),
    ...(comments && { comments: comments.map(({ author, body, createdAt: at }) => ({ author, body, created_at: at })) }),
  };
}

function remoteOf({ state, labels, comments }: StoredRecord): RemoteIssue {
  return { state, labels: labels ?? [], commentBodies: (comments ?? []).map(({ body }) => body) };
}
