import { startFakeGitlab } from '../../../fakes/gitlab.ts';
import { startProxy } from '../../../support/proxy.ts';
import type { Stage } from '../stage.ts';
import { bareList, outages, TOKEN_VARIABLE, trackerLines } from './parts.ts';

const STATES = { todo: 'backlog', doing: 'in-progress', handoff: 'human-review', done: 'done' };
const LABELS = Object.values(STATES);

export async function nsprojectStage(): Promise<Stage> {
  const fake = await startFakeGitlab({ labels: LABELS });
  const proxy = await startProxy(fake.url);
  const placed = (state: string) => ({ state: state === STATES.done ? ('closed' as const) : ('opened' as const) });
  const connection = { endpoint: proxy.url, project: fake.project.path, api_key: `$${TOKEN_VARIABLE}` };
  const isList = (path: string): boolean => path.endsWith('/issues');
  return {
    kind: 'nsproject',
    states: STATES,
    sections: { tracker: trackerLines('nsproject', STATES, connection) },
    env: { [TOKEN_VARIABLE]: fake.token },
    async add({ title, state, author, description, labels = [], assignee, comments = [] }) {
      const { iid } = fake.addIssue({
        title,
        ...(author !== undefined && { author }),
        description: description ?? null,
        labels: [state, ...labels],
        assignees: assignee === undefined ? [] : [assignee],
        ...placed(state),
      });
      for (const comment of comments) fake.addNote(iid, comment);
      return { id: String(iid), identifier: String(iid) };
    },
    stateOf: async (id) => fake.issue(Number(id)).labels.find((label) => LABELS.includes(label)) ?? '',
    async move(id, state) {
      const others = fake.issue(Number(id)).labels.filter((label) => !LABELS.includes(label));
      fake.editIssue(Number(id), { ...placed(state), labels: [], addLabels: [state, ...others] });
    },
    async shut(id) {
      fake.editIssue(Number(id), { state: 'closed' });
    },
    commentsOf: async (id) =>
      fake
        .issue(Number(id))
        .notes.filter(({ system }) => !system)
        .map(({ body }) => body),
    ...outages(proxy),
    remote: {
      proxy,
      origin: fake.url,
      isCandidates: ({ path, query }) => isList(path) && !query.has('iids[]') && query.get('state') === 'opened',
      isIssue: ({ method, path }) => method === 'GET' && /\/issues\/\d+$/.test(path),
      isLookup: ({ path, query }) => isList(path) && query.has('iids[]'),
      isWrite: ({ method }) => method !== 'GET',
      entriesOf: bareList,
      essential: ['iid', 'labels', 'state'],
    },
    async close() {
      await proxy.close();
      await fake.close();
    },
  };
}
