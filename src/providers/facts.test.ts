import { expect, it } from 'vitest';
import { AGENT_FACTS } from '../agents/facts.ts';
import { loadAgentKinds } from '../agents/registry.ts';
import { formatProblem, problemFacts } from '../config/format.ts';
import { readWorkflow } from '../config/workflow.ts';
import { PROVIDER_FACTS } from './facts.ts';
import { loadProviders } from './registry.ts';

const PROVIDERS = await loadProviders();
const AGENT_KINDS = await loadAgentKinds();

it('the facts are those of the registries, in their order', () => {
  expect(PROVIDER_FACTS.map(({ kind }) => kind)).toEqual(PROVIDERS.map(({ kind }) => kind));
  expect(AGENT_FACTS.map(({ kind }) => kind)).toEqual(AGENT_KINDS.map(({ kind }) => kind));
});

it.each(PROVIDERS.map((provider) => [provider.kind, provider] as const))('%s: its roles are what it can build', (_, provider) => {
  const built = {
    labels: provider.createLabel,
    scm: provider.createScm,
    ci: provider.createCi,
    requests: provider.createRequests,
  };
  expect(provider.roles).toEqual(Object.keys(built).filter((role) => built[role as keyof typeof built] !== undefined));
});

it.each([
  { name: 'file', isRefused: true },
  { name: 'jira', isRefused: true },
  { name: 'graphql', isRefused: true },
  { name: 'github', isRefused: false },
  { name: 'gitlab', isRefused: false },
  { name: 'gitea', isRefused: false },
])('tracker.authors: collaborators, kind $name', ({ name, isRefused }) => {
  const text = `---\ntracker:\n  kind: ${name}\n  authors: collaborators\n---\nDo it.\n`;
  const context = { env: {}, homeDir: '/home/op', providers: PROVIDERS, agentKinds: AGENT_KINDS, checkTemplate: () => [] };
  const { problems } = readWorkflow(text, '/srv/WORKFLOW.md', context);
  const found = problems.filter(({ check }) => check === 'tracker.authors');
  const why = 'does not tell who may write to the project: tracker.authors takes a list of user names there';
  expect(found.map(formatProblem)).toEqual(
    isRefused ? [`error: tracker.authors: tracker kind ${name} ${why} (line 4, column 3)`] : [],
  );
  for (const problem of found) expect(problemFacts(problem, 'WORKFLOW.md')).toMatchObject({ line: 4, column: 3 });
});
