import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createPlayground, type Finished, type Playground } from '../../support/daemon.ts';
import { startServer } from '../../support/http-server.ts';
import { KINDS } from './stage.ts';

type Block = Readonly<Record<string, unknown>>;
type Env = Readonly<Record<string, string>>;

/** The least that each kind asks for. */
const MINIMAL: Readonly<Record<string, Block>> = {
  file: {},
  graphql: { api_key: '$KEY', project: 'ENG' },
  nsproject: { api_key: '$KEY', project: 'acme/tools/rocket' },
  repoissues: { api_key: '$KEY', project: 'acme/widgets' },
  selfhosted: {
    endpoint: 'https://git.example.com',
    api_key: '$KEY',
    project: 'acme/app',
    active_states: ['todo'],
    terminal_states: ['done'],
  },
  wfboard: { endpoint: 'https://acme.example.net', api_key: '$KEY', project: 'ABC' },
};

const KEYS: Env = {
  graphql: 'lin_api_0123456789',
  nsproject: 'glpat-0123456789',
  repoissues: 'ghp_0123456789',
  selfhosted: '0123456789abcdef0123456789abcdef01234567',
  wfboard: 'bot@example.net:token',
};

const ERROR = 1;
const WARNING = 0;
type Row = readonly [kind: string, fault: string, change: Block, code: 0 | 1, line: string, env?: Env];

/** One fault in an otherwise minimal file, and the beginning of the line that names it. */
const ROWS: readonly Row[] = [
  ['repoissues', 'a project without a slash', { project: 'acme' }, ERROR, 'error: tracker.project.format: '],
  ['repoissues', 'a project of two slashes', { project: 'a/b/c' }, ERROR, 'error: tracker.project.format: '],
  ['repoissues', 'a project with an empty part', { project: 'acme/ ' }, ERROR, 'error: tracker.project.format: '],
  ['repoissues', 'white space in the project', { project: 'my org/app' }, ERROR, 'error: tracker.project.format: '],
  [
    'repoissues',
    'no key while FORGE_TOKEN is set',
    { api_key: '' },
    ERROR,
    'warning: tracker.api_key.forge_token_hint: ',
    { FORGE_TOKEN: 'x' },
  ],
  ['repoissues', 'no key at all', { api_key: '$UNSET' }, ERROR, 'warning: tracker.api_key.forge_token_missing: '],
  [
    'repoissues',
    'an empty active state',
    { active_states: ['backlog', ''] },
    WARNING,
    'warning: tracker.active_states.empty_element: ',
  ],
  [
    'repoissues',
    'an empty terminal state',
    { terminal_states: ['done', ' '] },
    WARNING,
    'warning: tracker.terminal_states.empty_element: ',
  ],
  [
    'repoissues',
    'a state in both lists',
    { active_states: ['a', 'b'], terminal_states: ['B'] },
    WARNING,
    'warning: tracker.states.overlap: ',
  ],
  ['repoissues', 'an active handoff state', { handoff_state: 'review' }, ERROR, 'warning: tracker.handoff_state.collision: '],
  ['repoissues', 'a terminal handoff state', { handoff_state: 'Done' }, ERROR, 'warning: tracker.handoff_state.collision: '],
  [
    'repoissues',
    'a terminal in-progress state',
    { in_progress_state: 'done' },
    ERROR,
    'warning: tracker.in_progress_state.collision: ',
  ],
  [
    'repoissues',
    'an in-progress state that is the handoff state',
    { in_progress_state: 'x', handoff_state: 'X' },
    ERROR,
    'warning: tracker.in_progress_state.collision: ',
  ],

  ['nsproject', 'an endpoint that is no URL', { endpoint: 'gitlab.example.com' }, ERROR, 'error: tracker.endpoint.invalid: '],
  ['nsproject', 'an endpoint without a host', { endpoint: 'https://:8080' }, ERROR, 'error: tracker.endpoint.invalid: '],
  ['nsproject', 'a bare IPv6 host', { endpoint: 'https://::1/' }, ERROR, 'error: tracker.endpoint.invalid: '],
  ['nsproject', 'a project of white space', { project: '  ' }, ERROR, 'error: tracker.project.format: '],
  ['nsproject', 'white space in the project', { project: 'acme/my app' }, ERROR, 'error: tracker.project.format: '],
  ['nsproject', 'an encoded project', { project: 'acme%2Frocket' }, ERROR, 'error: tracker.project.format: '],
  ['nsproject', 'a project without a slash', { project: 'rocket' }, ERROR, 'error: tracker.project.format: '],
  ['nsproject', 'a project with an empty part', { project: 'acme//rocket' }, ERROR, 'error: tracker.project.format: '],
  ['nsproject', 'a project with a slash before it', { project: '/acme/rocket' }, ERROR, 'error: tracker.project.format: '],
  ['nsproject', 'a reserved filter key', { query_filter: 'state=opened' }, ERROR, 'error: tracker.query_filter.invalid: '],
  ['nsproject', 'an unknown filter key', { query_filter: 'weight=3' }, ERROR, 'error: tracker.query_filter.invalid: '],
  ['nsproject', 'an unnegatable filter key', { query_filter: 'not[search]=x' }, ERROR, 'error: tracker.query_filter.invalid: '],
  ['nsproject', 'an empty filter segment', { query_filter: 'labels=a,,b' }, ERROR, 'error: tracker.query_filter.invalid: '],
  ['nsproject', 'a repeated filter key', { query_filter: 'scope=all&scope=all' }, ERROR, 'error: tracker.query_filter.invalid: '],
  [
    'nsproject',
    'two spellings of a filter key',
    { query_filter: 'labels=a&labels[]=b' },
    ERROR,
    'error: tracker.query_filter.invalid: ',
  ],
  ['nsproject', 'an unreadable filter', { query_filter: 'labels=%zz' }, ERROR, 'error: tracker.query_filter.invalid: '],
  ['nsproject', 'a http endpoint', { endpoint: 'http://git.example' }, WARNING, 'warning: tracker.endpoint.insecure: '],
  [
    'nsproject',
    'an endpoint with the API suffix',
    { endpoint: 'https://git.example/api/v4/' },
    WARNING,
    'warning: tracker.endpoint.api_suffix: ',
  ],
  [
    'nsproject',
    'no key while GITLAB_TOKEN is set',
    { api_key: '' },
    ERROR,
    'warning: tracker.api_key.token_hint: ',
    { GITLAB_TOKEN: 'x' },
  ],
  ['nsproject', 'white space around the key', { api_key: ' $KEY ' }, WARNING, 'warning: tracker.api_key.whitespace: '],

  ['selfhosted', 'an endpoint that is no URL', { endpoint: 'git.example.com' }, ERROR, 'error: tracker.endpoint.invalid: '],
  ['selfhosted', 'a project without a slash', { project: 'app' }, ERROR, 'error: tracker.project.format: '],
  ['selfhosted', 'no active state', { active_states: [] }, WARNING, 'warning: tracker.active_states.empty: '],
  [
    'selfhosted',
    'an empty active state',
    { active_states: ['todo', ' '] },
    ERROR,
    'error: tracker.active_states.empty_element: ',
  ],
  ['selfhosted', 'no terminal state', { terminal_states: [] }, ERROR, 'error: tracker.terminal_states.empty: '],
  ['selfhosted', 'a padded state', { active_states: [' todo'] }, WARNING, 'warning: tracker.states.padding: '],
  [
    'selfhosted',
    'a state in both lists',
    { active_states: ['todo', 'done'], terminal_states: ['Done'] },
    WARNING,
    'warning: tracker.states.overlap: ',
  ],
  ['selfhosted', 'an http endpoint', { endpoint: 'http://git.example' }, WARNING, 'warning: tracker.endpoint.insecure: '],
  [
    'selfhosted',
    'an endpoint with the API suffix',
    { endpoint: 'https://git.example/api/v1' },
    WARNING,
    'warning: tracker.endpoint.api_suffix: ',
  ],
  ['selfhosted', 'white space around the key', { api_key: '$KEY ' }, WARNING, 'warning: tracker.api_key.whitespace: '],
  [
    'selfhosted',
    'no key while GITEA_TOKEN is set',
    { api_key: '' },
    ERROR,
    'warning: tracker.api_key.token_hint: ',
    { GITEA_TOKEN: 'x' },
  ],
  ['selfhosted', 'an owned filter key', { query_filter: 'page=2' }, ERROR, 'error: tracker.query_filter.invalid: '],
  ['selfhosted', 'a strange filter key', { query_filter: 'colour=red' }, WARNING, 'warning: tracker.query_filter.unknown_key: '],

  ['graphql', 'an endpoint that is no URL', { endpoint: 'api.example' }, ERROR, 'error: tracker.endpoint.invalid: '],
  ['graphql', 'white space in the project', { project: 'EN G' }, ERROR, 'error: tracker.project.format: '],
  ['graphql', 'a slash in the project', { project: 'acme/app' }, WARNING, 'warning: tracker.project.slash: '],
  ['graphql', 'an empty state', { active_states: [''] }, ERROR, 'error: tracker.active_states.invalid_element: '],
  ['graphql', 'a padded state', { terminal_states: ['Done '] }, ERROR, 'error: tracker.terminal_states.invalid_element: '],
  [
    'graphql',
    'a state in both lists',
    { active_states: ['Todo'], terminal_states: ['todo'] },
    ERROR,
    'error: tracker.states.overlap: ',
  ],
  ['graphql', 'a key without its prefix', { api_key: 'Bearer $KEY' }, WARNING, 'warning: tracker.api_key.format: '],
  ['graphql', 'white space around the key', { api_key: ' $KEY' }, WARNING, 'warning: tracker.api_key.format: '],
  [
    'graphql',
    'no key while LINEAR_API_KEY is set',
    { api_key: '' },
    ERROR,
    'warning: tracker.api_key.token_hint: ',
    { LINEAR_API_KEY: 'x' },
  ],
  ['graphql', 'a reserved filter key', { query_filter: '{"team":{}}' }, ERROR, 'error: tracker.query_filter.invalid: '],
  ['graphql', 'a filter that is no object', { query_filter: '[]' }, ERROR, 'error: tracker.query_filter.invalid: '],

  [
    'wfboard',
    'an endpoint with the API path',
    { endpoint: 'https://acme.example.net/rest/api/3' },
    ERROR,
    'error: tracker.endpoint.invalid: ',
  ],
  ['wfboard', 'a key without a colon', { api_key: 'token' }, ERROR, 'error: tracker.api_key.format: '],
  ['wfboard', 'a key without a token', { api_key: 'bot@example.net:' }, ERROR, 'error: tracker.api_key.format: '],
];

/** Written down without a fault, beyond the minimum. */
const GOOD: readonly (readonly [kind: string, what: string, change: Block])[] = [
  ['nsproject', 'a numeric project', { project: '4711' }],
  ['nsproject', 'a filter of every form', { query_filter: 'labels=a,b&not[labels]=c&iids[]=1&iids[]=2&assignee_id=None' }],
  ['selfhosted', 'a filter of known keys', { query_filter: 'labels=a,b&created_by=ada' }],
  ['graphql', 'an empty endpoint', { endpoint: '' }],
  ['graphql', 'a filter', { query_filter: '{"priority":{"lte":2}}' }],
  ['repoissues', 'a filter', { query_filter: 'label:agent -label:wip' }],
  ['wfboard', 'a key of its parts', { api_key: 'bot@example.net:$KEY' }],
];

let ground: Playground;
let count = 0;
beforeAll(async () => {
  ground = await createPlayground();
  await ground.writeIssues([]);
});
afterAll(() => ground.cleanup());

async function validate(kind: string, change: Block = {}, env: Env = {}): Promise<Finished> {
  const tracker = Object.fromEntries(
    Object.entries({ kind, ...MINIMAL[kind], ...change }).filter(([, value]) => value !== undefined),
  );
  const own = kind === 'file' ? { file: { path: 'issues.json' } } : {};
  const matter = stringify({ tracker, ...own, agent: { kind: 'mock' } });
  count += 1;
  const name = `WORKFLOW-${count}.md`;
  await ground.write(name, `---\n${matter}---\nWork on {{ .issue.identifier }}.\n`);
  return ground.run(['validate', name], { env: { KEY: KEYS[kind] ?? '', ...env } });
}

describe.concurrent('validate', () => {
  it.each(KINDS)('is silent on the minimal file of %s', async (kind) => {
    expect(await validate(kind)).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it.each(GOOD)('is silent for %s with %s', async (kind, _what, change) => {
    expect(await validate(kind, change)).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it.each(packed(ROWS))('$kind: names $faults', async ({ kind, change, code, lines, env }) => {
    const finished = await validate(kind, change, env);
    const printed = finished.stderr.trimEnd().split('\n');
    for (const line of lines) expect(printed.filter((one) => one.startsWith(line))).toHaveLength(1);
    for (const one of printed) expect(one).toMatch(/^(error|warning): [a-z_.]+: ./);
    expect(finished).toMatchObject({ code, stdout: '' });
    expect(finished.stderr).not.toContain(KEYS[kind]);
  });

  it.each(KINDS.filter((kind) => kind !== 'file'))('%s: says what is required', async (kind) => {
    const required = ['endpoint', 'api_key', 'project'].filter((key) => key in (MINIMAL[kind] ?? {}));
    const { code, stderr } = await validate(kind, Object.fromEntries(required.map((key) => [key, undefined])));
    expect(code).toBe(1);
    for (const key of required) {
      expect(stderr).toMatch(new RegExp(`^error: \\S+: tracker\\.${key} is required for tracker kind ${kind}\\b`, 'm'));
    }
  });

  it.each(KINDS)('%s: keeps the handoff and in-progress states apart from the lists, and asks nobody', async (kind) => {
    const server = await startServer();
    const states = {
      active_states: ['One', 'Two'],
      terminal_states: ['Three'],
      handoff_state: 'two',
      in_progress_state: 'THREE',
    };
    const { code, stderr } = await validate(kind, { ...states, ...(kind !== 'file' && { endpoint: server.url }) });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: tracker\.handoff_state: /m);
    expect(stderr).toMatch(/^error: tracker\.in_progress_state: /m);
    // Throws when a request came.
    await server.close();
    expect(server.requests).toEqual([]);
  });
});

/** Faults of one kind that do not touch each other share a file: starting the command is what takes the time. */
interface Pack {
  readonly kind: string;
  readonly code: 0 | 1;
  faults: string;
  change: Block;
  env: Env;
  readonly lines: string[];
  readonly subjects: Set<string>;
}

function packed(rows: readonly Row[]): readonly Pack[] {
  const packs: Pack[] = [];
  for (const [kind, fault, change, code, line, env = {}] of rows) {
    const subjects = Object.keys(change).map((key) => (key.includes('state') ? 'states' : key));
    const fits = packs.find(
      (pack) => pack.kind === kind && pack.code === code && subjects.every((subject) => !pack.subjects.has(subject)),
    );
    const pack = fits ?? { kind, code, faults: '', change: {}, env: {}, lines: [], subjects: new Set<string>() };
    if (!fits) packs.push(pack);
    pack.faults = pack.faults ? `${pack.faults}; ${fault}` : fault;
    pack.change = { ...pack.change, ...change };
    pack.env = { ...pack.env, ...env };
    pack.lines.push(line);
    for (const subject of subjects) pack.subjects.add(subject);
  }
  return packs;
}
