import { rename as moveFile } from 'node:fs/promises';
import type { Playground } from '../../../support/daemon.ts';
import type { Stage, StageIssue } from '../stage.ts';
import { trackerLines } from './parts.ts';

const NAME = 'issues.json';
const STATES = { todo: 'todo', doing: 'in progress', handoff: 'review', done: 'done' };

/** Issues in a file beside the workflow file. */
export async function fileStage(ground: Playground): Promise<Stage> {
  let name = NAME;
  const load = async (): Promise<StoredRecord[]> => JSON.parse(await ground.read(name)) as StoredRecord[];
  // At once, as careful people do: the daemon reads at any time.
  const save = async (records: readonly StoredRecord[]): Promise<void> =>
    moveFile(await ground.write('edited.json', JSON.stringify(records, null, 2)), ground.path(name));
  const find = async (id: string): Promise<StoredRecord> => (await load()).find((record) => record['id'] === id) ?? {};
  const rename = async (to: string): Promise<void> => {
    await moveFile(ground.path(name), ground.path(to));
    name = to;
  };
  await save([]);
  return {
    kind: 'file',
    states: STATES,
    sections: { tracker: trackerLines('file', STATES, {}), file: `path: ${NAME}` },
    env: {},
    async add(issue) {
      const records = await load();
      const number = records.length + 1;
      const names = { id: `id-${number}`, identifier: `A-${number}` };
      await save([...records, recordOf(issue, names)]);
      return names;
    },
    stateOf: async (id) => String((await find(id))['state']),
    async move(id, state) {
      await save((await load()).map((record) => (record['id'] === id ? { ...record, state } : record)));
    },
    commentsOf: async (id) => ((await find(id))['comments'] as { body: string }[] | undefined)?.map(({ body }) => body) ?? [],
    goAway: () => rename('away.json'),
    comeBack: () => rename(NAME),
    remote: null,
    close: () => Promise.resolve(),
  };
}

type StoredRecord = Readonly<Record<string, unknown>>;

function recordOf(issue: StageIssue, names: { id: string; identifier: string }): Record<string, unknown> {
  const { issueType, branchName, blockedBy, comments, ...same } = issue;
  return {
    ...names,
    ...same,
    ...(issueType && { issue_type: issueType }),
    ...(branchName && { branch_name: branchName }),
    ...(blockedBy && { blocked_by: blockedBy.map((id) => ({ id })) }),
    ...(comments && { comments: comments.map(({ author, body, createdAt }) => ({ author, body, created_at: createdAt })) }),
    url: `https://issues.example/${names.identifier}`,
    created_at: '2026-03-01T08:00:00Z',
    updated_at: '2026-03-02T08:00:00Z',
  };
}
