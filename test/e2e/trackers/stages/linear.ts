import { startFakeLinear } from '../../../fakes/linear.ts';
import { startProxy } from '../../../support/proxy.ts';
import type { Stage } from '../stage.ts';
import { outages, TOKEN_VARIABLE, trackerLines } from './parts.ts';

const STATES = { todo: 'Todo', doing: 'In Progress', handoff: 'In Review', done: 'Done' };

interface IssuesAnswer {
  readonly data: { readonly issues: { readonly nodes: Record<string, unknown>[] } };
}

export async function graphqlStage(): Promise<Stage> {
  const fake = await startFakeLinear();
  const { origin, pathname } = new URL(fake.url);
  const proxy = await startProxy(origin);
  const connection = { endpoint: `${proxy.url}${pathname}`, project: fake.project, api_key: `$${TOKEN_VARIABLE}` };
  return {
    kind: 'graphql',
    states: STATES,
    sections: { tracker: trackerLines('graphql', STATES, connection) },
    env: { [TOKEN_VARIABLE]: fake.apiKey },
    async add({ comments = [], author, ...issue }) {
      const names = fake.addIssue({ ...issue, ...(author !== undefined && { creator: author }) });
      for (const comment of comments) fake.comment(names.id, comment);
      return names;
    },
    stateOf: async (id) => fake.issue(id).state,
    move: async (id, state) => fake.editIssue(id, { state }),
    commentsOf: async (id) => fake.issue(id).comments.map(({ body }) => body),
    ...outages(proxy),
    remote: {
      proxy,
      origin,
      isCandidates: ({ body }) => body.includes('query Issues('),
      isIssue: ({ body }) => body.includes('query Issue('),
      isLookup: ({ body }) => body.includes('query StatesByIds('),
      isWrite: ({ body }) => body.includes('mutation '),
      entriesOf: (answer) => (answer as IssuesAnswer).data.issues.nodes,
      essential: ['id', 'identifier', 'state'],
    },
    async close() {
      await proxy.close();
      await fake.close();
    },
  };
}
