import { startFakeJira } from '../../../fakes/jira.ts';
import { startProxy } from '../../../support/proxy.ts';
import type { RecordedRequest } from '../../../support/http-server.ts';
import type { Stage } from '../stage.ts';
import { outages, TOKEN_VARIABLE, trackerLines } from './parts.ts';

const STATES = { todo: 'Backlog', doing: 'In Progress', handoff: 'Human Review', done: 'Done' };

export async function wfboardStage(): Promise<Stage> {
  const fake = await startFakeJira();
  const proxy = await startProxy(fake.url);
  const connection = { endpoint: proxy.url, project: fake.project, api_key: `$${TOKEN_VARIABLE}` };
  const jqlOf = ({ query }: RecordedRequest): string => query.get('jql') ?? '';
  return {
    kind: 'wfboard',
    states: STATES,
    sections: { tracker: trackerLines('wfboard', STATES, connection) },
    env: { [TOKEN_VARIABLE]: fake.apiKey },
    async add({ title, state, author, description, labels, assignee, priority, issueType, comments = [], blockedBy, parent }) {
      const id = fake.addIssue({
        summary: title,
        status: state,
        ...(author !== undefined && { creator: author }),
        ...(description !== undefined && { description }),
        ...(labels && { labels }),
        ...(assignee !== undefined && { assignee }),
        ...(priority !== undefined && { priority }),
        ...(issueType !== undefined && { issueType }),
        ...(blockedBy && { blockedBy }),
        ...(parent !== undefined && { parent }),
      });
      for (const { author, body, createdAt } of comments) fake.comment(id, author, body, createdAt);
      return { id, identifier: fake.issue(id).key };
    },
    stateOf: async (id) => fake.issue(id).status,
    move: async (id, state) => fake.editIssue(id, { status: state }),
    commentsOf: async (id) => fake.issue(id).comments.map(({ body }) => JSON.stringify(body)),
    ...outages(proxy),
    remote: {
      proxy,
      origin: fake.url,
      isCandidates: (request) => jqlOf(request).includes('ORDER BY priority ASC, created ASC'),
      isIssue: ({ method, path }) => method === 'GET' && /\/issue\/\w+$/.test(path),
      isLookup: (request) => jqlOf(request).startsWith('id IN'),
      isWrite: ({ method }) => method !== 'GET',
      entriesOf: (answer) => (answer as { issues: Record<string, unknown>[] }).issues,
      essential: ['id', 'key', 'fields'],
    },
    async close() {
      await proxy.close();
      await fake.close();
    },
  };
}
