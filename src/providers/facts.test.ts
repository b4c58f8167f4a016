import { expect, it } from 'vitest';
import { AGENT_FACTS } from '../agents/facts.ts';
import { loadAgentKinds } from '../agents/registry.ts';
import { formatProblem, problemFacts } from '../config/format.ts';
import { readWorkflow } from '../config/workflow.ts';
import { depsWith } from '../../test/fakes/adapter-deps.ts';
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

it.each([
  { name: 'github', keys: 'endpoint: foo', line: 'error: repoissues.endpoint.invalid' },
  { name: 'gitea', keys: 'endpoint: "http://x?a=1"', line: 'error: selfhosted.endpoint.invalid' },
  { name: 'gitlab', keys: 'endpoint: foo', line: 'error: nsproject.endpoint.invalid' },
  { name: 'nsproject', keys: 'endpoint: "http://x?a=1"', line: 'error: nsproject.endpoint.invalid' },
  { name: 'gitlab', keys: 'project: alone', line: 'error: nsproject.project.format' },
])('the block of $name with $keys is refused by a check as when it is built', ({ name, keys, line }) => {
  const reactions = `reactions:\n  projects: [o/r]\n  auto_merge: { provider: ${name} }`;
  const text = `---\ntracker: { kind: file }\nfile: { path: . }\n${name}: { api_key: k, endpoint: "https://x" }\n${reactions}\n---\nDo it.\n`;
  const context = { env: {}, homeDir: '/home/op', providers: PROVIDERS, agentKinds: AGENT_KINDS, checkTemplate: () => [] };
  const faultsOf = (written: string): string[] =>
    readWorkflow(text.replace('endpoint: "https://x"', written), '/srv/WORKFLOW.md', context)
      .problems.map(formatProblem)
      .filter((problem) => problem.startsWith('error'));
  expect(faultsOf('endpoint: "https://x"')).toEqual([]);
  const written = keys.startsWith('project') ? `endpoint: "https://x", ${keys}` : keys;
  const [found = ''] = faultsOf(written);
  const [key = '', value = ''] = keys.replaceAll('"', '').split(': ');
  const kind = PROVIDERS.find((provider) => provider.kind === name || provider.aliases.includes(name));
  const connection = { kind: '', name, apiKey: 'k', endpoint: 'https://x', project: '', userAgent: '', [key]: value };
  const build = (): unknown => kind?.createCi?.(connection, depsWith().deps);
  expect(build).toThrow('tracker_payload_error');
  const why = found.slice(`${line}: tracker_payload_error: `.length, found.indexOf(' (line 4, '));
  expect(found.startsWith(`${line}: tracker_payload_error: ${name}.${key} `), found).toBe(true);
  expect(build).toThrow(why);
});
