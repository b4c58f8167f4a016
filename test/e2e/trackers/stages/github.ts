import { startFakeGithub } from '../../../fakes/github.ts';
import { startProxy } from '../../../support/proxy.ts';
import type { Stage } from '../stage.ts';
import { bareList, outages, TOKEN_VARIABLE, trackerLines } from './parts.ts';

const STATES = { todo: 'backlog', doing: 'in-progress', handoff: 'needs-review', done: 'done' };
const LABELS = Object.values(STATES);

export async function repoissuesStage(): Promise<Stage> {
  // Labels are never created by a move, so they are there from the start.
  const fake = await startFakeGithub({ labels: LABELS, limits: { core: 100_000, search: 1_000 } });
  const proxy = await startProxy(fake.url);
  const natively = (state: string) => (state === STATES.done ? ('closed' as const) : ('open' as const));
  return {
    kind: 'repoissues',
    states: STATES,
    sections: {
      tracker: trackerLines('repoissues', STATES, {
        endpoint: proxy.url,
        project: 'acme/widgets',
        api_key: `$${TOKEN_VARIABLE}`,
      }),
    },
    env: { [TOKEN_VARIABLE]: fake.token },
    async add({ title, state, author, description, labels = [], assignee, issueType, comments = [], blockedBy = [], parent }) {
      const { number } = fake.addIssue({
        title,
        ...(author !== undefined && { author }),
        body: description ?? null,
        state: natively(state),
        labels: [...labels, state],
        assignees: assignee === undefined ? [] : [assignee],
        type: issueType ?? null,
        blockedBy: blockedBy.map((id) => ({ number: Number(id) })),
        parent: parent === undefined ? null : { number: Number(parent) },
      });
      for (const comment of comments) fake.addComment(number, comment);
      return { id: String(number), identifier: String(number) };
    },
    stateOf: async (id) => fake.issue(id).labels.find((label) => LABELS.includes(label)) ?? '',
    async move(id, state) {
      const others = fake.issue(id).labels.filter((label) => !LABELS.includes(label));
      fake.editIssue(id, { labels: [...others, state], state: natively(state) });
    },
    async shut(id) {
      fake.editIssue(id, { state: 'closed' });
    },
    commentsOf: async (id) => fake.issue(id).comments.map(({ body }) => body),
    ...outages(proxy),
    remote: {
      proxy,
      origin: fake.url,
      isCandidates: ({ method, path }) => method === 'GET' && path.endsWith('/issues') && path.startsWith('/repos/'),
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
