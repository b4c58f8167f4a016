import { startFakeGitea } from '../../../fakes/gitea.ts';
import { startProxy } from '../../../support/proxy.ts';
import type { Stage } from '../stage.ts';
import { bareList, outages, TOKEN_VARIABLE, trackerLines } from './parts.ts';

const STATES = { todo: 'todo', doing: 'doing', handoff: 'review', done: 'done' };
const LABELS = Object.values(STATES);

export async function selfhostedStage(): Promise<Stage> {
  const fake = await startFakeGitea({ labels: [STATES.todo, STATES.doing] });
  const proxy = await startProxy(fake.url);
  const natively = (state: string) => (state === STATES.done ? ('closed' as const) : ('open' as const));
  const connection = { endpoint: proxy.url, project: fake.project, api_key: `$${TOKEN_VARIABLE}` };
  return {
    kind: 'selfhosted',
    states: STATES,
    sections: { tracker: trackerLines('selfhosted', STATES, connection) },
    env: { [TOKEN_VARIABLE]: fake.token },
    async add({ title, state, author, description, labels = [], assignee, branchName, comments = [], blockedBy = [] }) {
      const number = fake.addIssue({
        title,
        ...(author !== undefined && { author }),
        body: description,
        state: natively(state),
        labels: [state, ...labels],
        assignees: assignee === undefined ? [] : [assignee],
        ref: branchName,
        dependencies: blockedBy.map(Number),
      });
      for (const { author, body, createdAt } of comments) fake.comment(number, author, body, createdAt);
      return { id: String(number), identifier: String(number) };
    },
    stateOf: async (id) => fake.issue(Number(id)).labels.find((label) => LABELS.includes(label)) ?? '',
    async move(id, state) {
      const others = fake.issue(Number(id)).labels.filter((label) => !LABELS.includes(label));
      fake.editIssue(Number(id), { state: natively(state), labels: [state, ...others] });
    },
    async shut(id) {
      fake.editIssue(Number(id), { state: 'closed' });
    },
    commentsOf: async (id) => fake.issue(Number(id)).comments,
    ...outages(proxy),
    remote: {
      proxy,
      origin: fake.url,
      isCandidates: ({ method, path, query }) => method === 'GET' && path.endsWith('/issues') && query.get('state') === 'open',
      isIssue: ({ method, path }) => method === 'GET' && /\/issues\/\d+$/.test(path),
      isLookup: ({ method, path }) => method === 'GET' && /\/issues\/\d+$/.test(path),
      isWrite: ({ method }) => method !== 'GET',
      entriesOf: bareList,
      essential: ['number', 'labels', 'state'],
    },
    async close() {
      await proxy.close();
      await fake.close();
    },
  };
}
