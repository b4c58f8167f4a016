import path from 'node:path';
import { z } from 'zod';
import type { Problem } from '../../../src/domain/model/problem.ts';
import type { AgentKind } from '../../../src/ports/agent-kind.ts';
import type { Provider, ProviderCheckInput } from '../../../src/ports/provider.ts';
import type { LoadContext } from '../../../src/config/workflow.ts';

/** Kinds for the tests of this folder: they have every feature that the loader has to deal with, and do nothing. */

function unused(): never {
  throw new Error('the loader builds nothing');
}

const BASE: Omit<Provider, 'kind'> = {
  aliases: [],
  requires: { apiKey: true, project: true, endpoint: false },
  expansion: { endpoint: 'whole', apiKey: 'anywhere', project: 'none' },
  defaults: { endpoint: '', activeStates: [], terminalStates: [], activeStatesGateDispatch: true },
  options: z.strictObject({}),
  check: () => [],
  roles: [],
  readBoard: async () => ({ what: 'states', states: [], createsMissing: false }),
  createTracker: unused,
};

/** Needs nothing but a path of its own. */
const file: Provider = {
  ...BASE,
  kind: 'file',
  requires: { apiKey: false, project: false, endpoint: false },
  expansion: { endpoint: 'none', apiKey: 'none', project: 'none' },
  options: z.strictObject({ path: z.string().describe('Issues.') }),
  place: {
    key: 'path',
    words: 'path of the issues',
    locate: (options, workflowDir) => path.resolve(workflowDir, String(options['path'])),
  },
  refusesOverlap: true,
};

const wfboard: Provider = {
  ...BASE,
  kind: 'wfboard',
  aliases: ['jira'],
  requires: { apiKey: true, project: true, endpoint: true },
  defaults: { ...BASE.defaults, activeStates: ['Backlog', 'In Progress'] },
};

/** With defaults for its states and checks of its own. */
const repoissues: Provider = {
  ...BASE,
  kind: 'repoissues',
  tellsCollaborators: true,
  aliases: ['github'],
  expansion: { endpoint: 'whole', apiKey: 'anywhere', project: 'whole' },
  defaults: {
    endpoint: 'https://api.example.test',
    activeStates: ['backlog', 'in-progress'],
    terminalStates: ['done', 'wontfix'],
    activeStatesGateDispatch: true,
  },
  check: checkGithub,
};

/** Its default states only derive; it has a merge-request and a CI side. */
const nsproject: Provider = {
  ...BASE,
  kind: 'nsproject',
  aliases: ['gitlab'],
  requires: { apiKey: true, project: true, endpoint: false, ciProject: true },
  expansion: { endpoint: 'anywhere', apiKey: 'anywhere', project: 'anywhere' },
  defaults: {
    endpoint: 'https://gitlab.example.test',
    activeStates: ['backlog', 'in-progress'],
    terminalStates: ['done', 'wontfix'],
    activeStatesGateDispatch: false,
  },
  nestsProjects: true,
  options: z.strictObject({ page_size: z.number().int().min(1).max(100).default(50).describe('Page size.') }),
  roles: ['scm', 'ci'],
  createScm: unused,
  createCi: unused,
};

/** Without defaults; a merge-request side but no CI. */
const selfhosted: Provider = {
  ...BASE,
  kind: 'selfhosted',
  aliases: ['gitea', 'forgejo'],
  requires: { apiKey: true, project: true, endpoint: true },
  expansion: { endpoint: 'anywhere', apiKey: 'anywhere', project: 'anywhere' },
  roles: ['scm'],
  createScm: unused,
};

const graphql: Provider = {
  ...BASE,
  kind: 'graphql',
  aliases: ['linear'],
  expansion: { endpoint: 'none', apiKey: 'anywhere', project: 'none' },
  defaults: {
    endpoint: 'https://graphql.example.test',
    activeStates: ['Todo'],
    terminalStates: ['Done'],
    activeStatesGateDispatch: true,
  },
};

function checkGithub(input: ProviderCheckInput): readonly Problem[] {
  const problems: Problem[] = [];
  if (input.project !== null && !/^[^/\s]+\/[^/\s]+$/.test(input.project)) {
    const message = 'must have the form <owner>/<repo>';
    problems.push({ severity: 'error', check: 'tracker.project.format', message, key: ['tracker', 'project'] });
  }
  if (!input.apiKey && input.env['FORGE_TOKEN']) {
    problems.push({
      severity: 'warning',
      check: 'tracker.api_key.forge_token_hint',
      message: 'FORGE_TOKEN is set: write $FORGE_TOKEN',
    });
  }
  if (input.endpoint?.startsWith('ftp:')) {
    const message = `${input.endpoint} is not an http(s) URL`;
    problems.push({ severity: 'error', check: 'tracker.endpoint.invalid', message, key: ['tracker', 'endpoint'] });
  }
  return problems;
}

const AGENT: Omit<AgentKind, 'kind'> = {
  defaultCommand: null,
  requiresCommand: false,
  tellsUsage: 'during-turn' as const,
  options: z.strictObject({}),
  create: unused,
};

const agentKinds: readonly AgentKind[] = [
  { ...AGENT, kind: 'acp', requiresCommand: true, tellsUsage: 'after-turn' },
  {
    ...AGENT,
    kind: 'claude-code',
    defaultCommand: ['claude'],
    options: z.strictObject({
      model: z.string().optional().describe('Model.'),
      effort: z.enum(['low', 'high']).optional().describe('Effort.'),
      max_budget: z.number().int().min(1).max(9).optional().describe('Budget.'),
      env: z.record(z.string(), z.string()).optional().describe('Variables.'),
      mode: z
        .union([z.boolean(), z.array(z.string())])
        .optional()
        .describe('Mode.'),
    }),
  },
  { ...AGENT, kind: 'mock' },
];

const PLAIN: LoadContext = {
  env: {},
  homeDir: '/home/op',
  providers: [file, wfboard, repoissues, nsproject, selfhosted, graphql],
  agentKinds,
  checkTemplate: () => [],
};

/** A context whose environment and template check a test may choose. */
export function fakeContext(overrides?: Partial<LoadContext>): LoadContext {
  return overrides ? { ...PLAIN, ...overrides } : PLAIN;
}
