import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ProviderCheckInput } from '../ports/provider.ts';
import { fakeContext } from '../../test/support/config/fake-kinds.ts';
import { formatProblem } from './format.ts';
import { type LoadContext, type LoadedWorkflow, readWorkflow } from './workflow.ts';

const FILE_TRACKER = 'tracker: { kind: file, active_states: [todo] }\nfile: { path: issues.json }\n';

function read(yaml: string, context?: Partial<LoadContext>, body = 'Do it.'): LoadedWorkflow {
  return readWorkflow(`---\n${yaml}\n---\n${body}\n`, '/srv/team a/WORKFLOW.md', fakeContext(context));
}

function lines(yaml: string, context?: Partial<LoadContext>): string[] {
  return read(yaml, context).problems.map(formatProblem);
}

/** What a valid file with this addition prints. */
function added(yaml: string): string[] {
  return lines(`${FILE_TRACKER}${yaml}`);
}

describe('a valid file', () => {
  it('has no problems and every default', () => {
    const { problems, settings, body, bodyLine, path } = read(FILE_TRACKER);
    expect(problems).toEqual([]);
    expect({ body, bodyLine, path }).toEqual({ body: 'Do it.', bodyLine: 6, path: '/srv/team a/WORKFLOW.md' });
    expect(settings).toEqual({
      tracker: {
        kind: 'file',
        name: 'file',
        identity: 'file /srv/team a/issues.json',
        apiKey: '',
        project: '',
        endpoint: '',
        activeStates: ['todo'],
        terminalStates: [],
        handoffState: null,
        inProgressState: null,
        noChangeState: null,
        queryFilter: '',
        quotaReservePercent: 20,
        authors: 'anyone',
        approvalLabel: null,
        userAgent: null,
        comments: { onDispatch: false, onCompletion: false, onFailure: false },
        options: { path: 'issues.json' },
      },
      polling: { intervalMs: 30_000 },
      workspace: { root: '/home/op/.local/state/foray/workspaces/team_a-4613df22', retentionDays: 0, removedDays: 7, repo: null },
      hooks: { afterCreate: null, beforeRun: null, afterRun: null, beforeRemove: null, timeoutMs: 60_000 },
      agent: {
        kind: 'claude-code',
        command: null,
        user: null,
        maxTurns: 20,
        maxConcurrentAgents: 10,
        maxConcurrentAgentsByState: {},
        turnTimeoutMs: 3_600_000,
        readTimeoutMs: 5000,
        stallTimeoutMs: 300_000,
        toolTimeoutMs: 1_800_000,
        stopGraceMs: 5000,
        maxRetryBackoffMs: 300_000,
        runOn: null,
        maxAttempts: 0,
        maxSessions: 0,
        instructions: true,
        evidence: 'any',
        maxTokens: 0,
        maxCostUsd: 0,
        maxRecordedBytes: 2_097_152,
      },
      agentOptions: {},
      worker: {
        sshHosts: [],
        sshRoot: expect.stringMatching(/^~\/\.local\/state\/foray\/workspaces\/team_a-[0-9a-f]{8}$/),
        sshEnv: [],
        maxPerHost: 0,
      },
      server: { port: null, host: '127.0.0.1', token: null, allowedHosts: [], publicUrl: null, webhookSecret: null },
      logging: { level: 'info', format: 'text' },
      dbPath: '/srv/team a/.foray.db',
      storeUrl: null,
      dbRetentionDays: 90,
      tokenRates: {},
      selfReview: { enabled: false, maxIterations: 3, verificationCommands: [], verificationTimeoutMs: 120_000 },
      reactions: { provider: null, connection: null, projects: [], votes: 'collaborators', on: {} },
      notifications: [],
    });
  });

  it('carries every written value into the settings', () => {
    const { problems, settings } = read(`
tracker:
  kind: github
  api_key: k-123456
  project: acme/app
  active_states: [" Todo ", Doing]
  terminal_states: [Done]
  handoff_state: Review
  in_progress_state: doing
  no_change_state: Done
  query_filter: label:x
  user_agent: me/1
  comments: { on_dispatch: true, on_completion: true, on_failure: true }
polling: { interval_ms: "50" }
workspace: { root: ../ws, retention_days: 30 }
hooks: { after_create: a, before_run: b, after_run: c, before_remove: d, timeout_ms: 7 }
agent:
  kind: mock
  command: run 'a b' --x="c d" e
  max_turns: 3
  max_concurrent_agents: 4
  max_concurrent_agents_by_state: { Todo: 2 }
  turn_timeout_ms: 5
  read_timeout_ms: 6
  stall_timeout_ms: -1
  stop_grace_ms: 0
  max_retry_backoff_ms: 8
  max_attempts: 9
  max_sessions: 10
  max_tokens: 11
  max_cost_usd: 1.5
server: { port: 0 }
logging: { level: debug, format: json }
db_path: data/x.db
token_rates: { mock: { input_per_mtok: 3, output_per_mtok: "15.5", cache_read_per_mtok: 0 }, claude-code: { input_per_mtok: 1, output_per_mtok: 2 } }
self_review: { enabled: true, max_iterations: 2, verification_commands: [npm test], verification_timeout_ms: 9 }
`);
    expect(problems).toEqual([]);
    expect(settings).toMatchObject({
      tracker: {
        kind: 'repoissues',
        name: 'github',
        apiKey: 'k-123456',
        project: 'acme/app',
        endpoint: 'https://api.example.test',
        activeStates: ['Todo', 'Doing'],
        terminalStates: ['Done'],
        handoffState: 'Review',
        inProgressState: 'doing',
        noChangeState: 'Done',
        queryFilter: 'label:x',
        userAgent: 'me/1',
        comments: { onDispatch: true, onCompletion: true, onFailure: true },
      },
      polling: { intervalMs: 50 },
      workspace: { root: '/srv/ws', retentionDays: 30, removedDays: 7, repo: null },
      hooks: { afterCreate: 'a', beforeRun: 'b', afterRun: 'c', beforeRemove: 'd', timeoutMs: 7 },
      agent: {
        kind: 'mock',
        command: ['run', 'a b', '--x=c d', 'e'],
        maxTurns: 3,
        maxConcurrentAgents: 4,
        maxConcurrentAgentsByState: { todo: 2 },
        turnTimeoutMs: 5,
        readTimeoutMs: 6,
        stallTimeoutMs: -1,
        stopGraceMs: 0,
        maxRetryBackoffMs: 8,
        maxAttempts: 9,
        maxSessions: 10,
        maxTokens: 11,
        maxCostUsd: 1.5,
      },
      server: { port: 0, host: '127.0.0.1', token: null, allowedHosts: [], publicUrl: null, webhookSecret: null },
      logging: { level: 'debug', format: 'json' },
      dbPath: '/srv/team a/data/x.db',
      storeUrl: null,
      dbRetentionDays: 90,
      tokenRates: {
        mock: { inputPerMtok: 3, outputPerMtok: 15.5, cacheReadPerMtok: 0 },
        'claude-code': { inputPerMtok: 1, outputPerMtok: 2, cacheReadPerMtok: null },
      },
      selfReview: { enabled: true, maxIterations: 2, verificationCommands: ['npm test'], verificationTimeoutMs: 9 },
    });
  });

  it('takes null for not written', () => {
    expect(added('agent:\npolling: { interval_ms: }\nclaude-code:\nserver: { port: ~ }\n')).toEqual([]);
  });

  it('reads a list as the command, word for word', () => {
    expect(read(`${FILE_TRACKER}agent: { command: [a, "b c", ""] }`).settings?.agent.command).toEqual(['a', 'b c', '']);
  });

  it("passes a kind's options and checks the blocks of kinds that are not in use", () => {
    const { problems, settings } = read(`${FILE_TRACKER}claude-code: { model: opus }\ngitlab: { page_size: 7 }\nmock: {}`);
    expect(problems).toEqual([]);
    expect(settings?.agentOptions).toEqual({ model: 'opus' });
    expect(added('acp: { x: 1 }')).toEqual(['warning: config.unknown_key: unknown key `acp.x` (line 4, column 8)']);
  });

  it("takes quoted whole numbers in a kind's own block too, and warns where that block is not strict itself", () => {
    const { agentKinds } = fakeContext();
    const options = z.object({ delay: z.int().optional(), sizes: z.array(z.number()).optional() });
    const loose = agentKinds.map((agent) => ({ ...agent, options }));
    const loaded = read(`${FILE_TRACKER}claude-code: { delay: "5", sizes: [1, " 22 "], dellay: 1 }`, { agentKinds: loose });
    expect(loaded.problems.map(formatProblem)).toEqual([
      'warning: config.unknown_key: unknown key `claude-code.dellay`; did you mean `claude-code.delay`? (line 4, column 48)',
    ]);
    expect(loaded.settings?.agentOptions).toEqual({ delay: 5, sizes: [1, 22] });
    expect(lines(`${FILE_TRACKER}claude-code: { delay: "x" }`, { agentKinds: loose })).toEqual([
      'error: claude-code.delay: must be a number, got "x" (line 4, column 16)',
    ]);
  });

  it('gives the kind a User-Agent from its block when the tracker block has none', () => {
    const { settings } = read('tracker: { kind: github, api_key: k, project: a/b }\ngithub: { user_agent: me/2 }');
    expect(settings?.tracker.userAgent).toBe('me/2');
  });
});

describe('the fault of one key', () => {
  const rows: readonly (readonly [yaml: string, line: string])[] = [
    ['agent: { max_turns: abc }', 'error: agent.max_turns: must be a whole number of at least 1, got "abc" (line 4, column 10)'],
    ['agent: { max_turns: 0 }', 'error: agent.max_turns: must be a whole number of at least 1, got 0 (line 4, column 10)'],
    ['agent: { max_turns: 1.5 }', 'error: agent.max_turns: must be a whole number of at least 1, got 1.5 (line 4, column 10)'],
    ['agent: { max_turns: true }', 'error: agent.max_turns: must be a whole number of at least 1, got true (line 4, column 10)'],
    ['agent: { max_turns: [1] }', 'error: agent.max_turns: must be a whole number of at least 1, got a list (line 4, column 10)'],
    [
      'agent: { max_turns: .inf }',
      'error: agent.max_turns: must be a whole number of at least 1, got Infinity (line 4, column 10)',
    ],
    [
      'agent: { max_tokens: 9007199254740993 }',
      'error: agent.max_tokens: must be a whole number of at most 9007199254740991, got 9007199254740992 (line 4, column 10)',
    ],
    [
      'agent: { max_tokens: "-1" }',
      'error: agent.max_tokens: must be a whole number of at least 0, got "-1" (line 4, column 10)',
    ],
    [
      'agent: { turn_timeout_ms: 2147483648 }',
      'error: agent.turn_timeout_ms: must be a whole number of at most 2147483647, got 2147483648 (line 4, column 10)',
    ],
    ['agent: { stall_timeout_ms: off }', 'error: agent.stall_timeout_ms: must be a whole number, got "off" (line 4, column 10)'],
    ['agent: { max_cost_usd: -0.5 }', 'error: agent.max_cost_usd: must be a number of at least 0, got -0.5 (line 4, column 10)'],
    [
      'agent: { kind: acp, command: x, max_cost_usd: 2 }',
      'warning: agent.max_cost_usd: agent.max_cost_usd may be exceeded by one turn: agents of kind acp tell what they used when a turn has ended; until then it is guessed where they tell the size of their context (line 4, column 33)',
    ],
    [
      'agent: { max_concurrent_agents: 0 }',
      'error: agent.max_concurrent_agents: must be a whole number of at least 1, got 0 (line 4, column 10)',
    ],
    [
      'agent: { max_concurrent_agents_by_state: { In Progress: x } }',
      'error: agent.max_concurrent_agents_by_state: `In Progress` must be a whole number of at least 1, got "x" (line 4, column 44)',
    ],
    [
      'agent: { max_concurrent_agents_by_state: { todo: 1, Todo: 2 } }',
      'error: agent.max_concurrent_agents_by_state: the state `todo` has two limits (line 4, column 53)',
    ],
    [
      'agent: { max_concurrent_agents_by_state: { " ": 1 } }',
      'error: agent.max_concurrent_agents_by_state: a state name must not be empty (line 4, column 44)',
    ],
    ['agent: { command: "a \'b" }', 'error: agent.command: has a quote that is not closed (line 4, column 10)'],
    ['agent: { command: " " }', 'error: agent.command: must name a program (line 4, column 10)'],
    ['agent: { command: [] }', 'error: agent.command: must name a program (line 4, column 10)'],
    ['agent: { command: [a, 1] }', 'error: agent.command: must be a string or a list of strings (line 4, column 10)'],
    ['agent: { command: 5 }', 'error: agent.command: must be a string or a list of strings (line 4, column 10)'],
    ['agent: { command: ["a\\0b"] }', 'error: agent.command: must not contain a NUL character (line 4, column 10)'],
    [
      'agent: { kind: clade-code }',
      'error: agent.kind: unknown agent kind "clade-code"; known kinds: acp, claude-code, mock; did you mean claude-code? (line 4, column 10)',
    ],
    ['agent: { kind: 3 }', 'error: agent.kind: must be a string, got a number; put it in quotes (line 4, column 10)'],
    ['agent: { kind: acp }', 'error: agent.command: agent.command is required for agent kind acp'],
    ['agent: [1]', 'error: agent: must be a map, got a list (line 4, column 1)'],
    [
      'polling: { interval_ms: 9 }',
      'error: polling.interval_ms: must be a whole number of at least 10, got 9 (line 4, column 12)',
    ],
    ['server: { port: 70000 }', 'error: server.port: must be a whole number from 0 to 65535, got 70000 (line 4, column 11)'],
    [
      'server: { host: 0.0.0.0 }',
      'error: server.token.required: server.host "0.0.0.0" lets other machines in, so server.token is needed: write server.token: $NAME, or leave server.host out (line 4, column 11)',
    ],
    ['server: { token: $UNSET }', 'error: server.token: must not be empty: $UNSET is not set (line 4, column 11)'],
    ['server: { webhooks: { secret: "" } }', 'error: server.webhooks.secret: must not be empty (line 4, column 23)'],
    ['server: { port: -1 }', 'error: server.port: must be a whole number from 0 to 65535, got -1 (line 4, column 11)'],
    ['logging: { level: loud }', 'error: logging.level: must be one of debug, info, warn, error, got "loud" (line 4, column 12)'],
    ['logging: { format: 1 }', 'error: logging.format: must be one of text, json, got 1 (line 4, column 12)'],
    ['hooks: { timeout_ms: 0 }', 'error: hooks.timeout_ms: must be a whole number of at least 1, got 0 (line 4, column 10)'],
    ['hooks: { before_run: [a] }', 'error: hooks.before_run: must be a string, got a list (line 4, column 10)'],
    ['hooks: { before_run: "" }', 'error: hooks.before_run: must not be empty (line 4, column 10)'],
    ['workspace: { root: true }', 'error: workspace.root: must be a string, got a boolean; put it in quotes (line 4, column 14)'],
    ['workspace: { root: $NOPE/x }', 'error: workspace.root: cannot be expanded: $NOPE is not set (line 4, column 14)'],
    [
      'workspace: { retention_days: -1 }',
      'error: workspace.retention_days: must be a whole number from 0 to 36500, got -1 (line 4, column 14)',
    ],
    ['db_path: 5', 'error: db_path: must be a string, got a number; put it in quotes (line 4, column 1)'],
    ['db_path: " "', 'error: db_path: must not be empty (line 4, column 1)'],
    ['db_path: ${A}${B}', 'error: db_path: cannot be expanded: $A and $B are not set (line 4, column 1)'],
    [
      'token_rates: { mock: { input_per_mtok: 1 } }',
      'error: token_rates.mock.output_per_mtok: token_rates.mock.output_per_mtok is required',
    ],
    [
      'token_rates: { mock: { input_per_mtok: -1, output_per_mtok: 1 } }',
      'error: token_rates.mock.input_per_mtok: must be a number of at least 0, got -1 (line 4, column 24)',
    ],
    [
      'token_rates: { mok: {} }',
      'warning: config.unknown_key: unknown key `token_rates.mok`; did you mean `token_rates.mock`? (line 4, column 16)',
    ],
    ['self_review: { enabled: "yes" }', 'error: self_review.enabled: must be true or false, got "yes" (line 4, column 16)'],
    [
      'self_review: { max_iterations: 11 }',
      'error: self_review.max_iterations: must be a whole number from 1 to 10, got 11 (line 4, column 16)',
    ],
    [
      'self_review: { enabled: true }',
      'error: self_review.verification_commands: self_review.verification_commands is required when self_review.enabled is true',
    ],
    [
      'self_review: { verification_commands: [a, ""] }',
      'error: self_review.verification_commands: entry 2 must not be empty (line 4, column 43)',
    ],
    [
      'claude-code: { model: 4 }',
      'error: claude-code.model: must be a string, got a number; put it in quotes (line 4, column 16)',
    ],
    ['claude-code: { effort: max }', 'error: claude-code.effort: must be one of low, high, got "max" (line 4, column 16)'],
    ['claude-code: { max_budget: 10 }', 'error: claude-code.max_budget: must be at most 9, got 10 (line 4, column 16)'],
    ['claude-code: { max_budget: x }', 'error: claude-code.max_budget: must be a number, got "x" (line 4, column 16)'],
    [
      'claude-code: { env: { API_TOKEN: 5 } }',
      'error: claude-code.env: `API_TOKEN` must be a string, got a number; put it in quotes (line 4, column 23)',
    ],
    ['claude-code: { mode: 5 }', 'error: claude-code.mode: must be true or false or a list, got 5 (line 4, column 16)'],
    [
      'claude-code: { mode: [a, 2] }',
      'error: claude-code.mode: at 1: must be a string, got a number; put it in quotes (line 4, column 16)',
    ],
    ['claude-code: 5', 'error: claude-code: must be a map, got a number (line 4, column 1)'],
    ['gitlab: { page_size: 0 }', 'error: nsproject.page_size: must be at least 1, got 0 (line 4, column 11)'],
    ['gitlab: { max_log_lines: x }', 'error: nsproject.max_log_lines: must be a whole number, got "x" (line 4, column 11)'],
    [
      'gitlab: { api_key: 1234 }',
      'error: nsproject.api_key: must be a string, got a number; put it in quotes (line 4, column 11)',
    ],
    ['gitlab: 7', 'error: nsproject: must be a map, got a number (line 4, column 1)'],
    [
      'gitea: {}\nforgejo: {}',
      'error: selfhosted.duplicate_block: `gitea` and `forgejo` are the same block; keep one of them (line 5, column 1)',
    ],
    [
      'agent: { max_turn: 3 }',
      'warning: config.unknown_key: unknown key `agent.max_turn`; did you mean `agent.max_turns`? (line 4, column 10)',
    ],
    ['max_turns: 3', 'warning: config.unknown_key: unknown key `max_turns`; did you mean `agent.max_turns`? (line 4, column 1)'],
    [
      'server: { port_number: 8080 }',
      'warning: config.unknown_key: unknown key `server.port_number`; did you mean `server.port`? (line 4, column 11)',
    ],
    ['pooling: {}', 'warning: config.unknown_key: unknown key `pooling`; did you mean `polling`? (line 4, column 1)'],
    ['zzzzzz: 1', 'warning: config.unknown_key: unknown key `zzzzzz` (line 4, column 1)'],
    [
      'github: { useragent: x }',
      'warning: config.unknown_key: unknown key `github.useragent`; did you mean `github.user_agent`? (line 4, column 11)',
    ],
    ['"a\\nb": 1', 'warning: config.unknown_key: unknown key `a\\nb` (line 4, column 1)'],
    ['<<: { polling: {} }', 'warning: config.unknown_key: unknown key `<<` (line 4, column 1)'],
  ];

  it.each(rows)('%s', (yaml, line) => {
    expect(added(yaml)).toEqual([line]);
  });

  it('leaves the settings in force when it is only a warning', () => {
    expect(read(`${FILE_TRACKER}zzzzzz: 1`).settings).not.toBeNull();
    expect(read(`${FILE_TRACKER}polling: 1`).settings).toBeNull();
  });
});

describe('the tracker block', () => {
  const KNOWN =
    'known kinds: file, wfboard (or jira), repoissues (or github), nsproject (or gitlab), selfhosted (or gitea, forgejo), graphql (or linear)';
  const GITHUB = 'tracker:\n  kind: github\n  api_key: k\n  project: a/b\n';
  const rows: readonly (readonly [title: string, yaml: string, lines: readonly string[]])[] = [
    ['no kind', 'tracker: {}', [`error: tracker.kind: tracker.kind is required; ${KNOWN}`]],
    ['an empty kind', 'tracker: { kind: "" }', [`error: tracker.kind: tracker.kind is required; ${KNOWN} (line 2, column 12)`]],
    ['nothing at all', '', [`error: tracker.kind: tracker.kind is required; ${KNOWN}`]],
    [
      'an unknown kind',
      'tracker: { kind: svn }',
      [`error: tracker.kind: unknown tracker kind "svn"; ${KNOWN} (line 2, column 12)`],
    ],
    [
      'a kind of the wrong type',
      'tracker: { kind: [a] }',
      ['error: tracker.kind: must be a string, got a list (line 2, column 12)'],
    ],
    ['a tracker that is no map', 'tracker: github', ['error: tracker: must be a map, got a string (line 2, column 1)']],
    [
      'the required keys of a kind, in order',
      'tracker: { kind: jira }',
      [
        'error: tracker.endpoint: tracker.endpoint is required for tracker kind wfboard (jira)',
        'error: tracker.api_key: tracker.api_key is required for tracker kind wfboard (jira)',
        'error: tracker.project: tracker.project is required for tracker kind wfboard (jira)',
      ],
    ],
    [
      'empty required keys',
      'tracker: { kind: github, api_key: " ", project: "" }',
      [
        'error: tracker.api_key: tracker.api_key is required for tracker kind repoissues (github) (line 2, column 26)',
        'error: tracker.project: tracker.project is required for tracker kind repoissues (github) (line 2, column 40)',
      ],
    ],
    [
      'a required key whose variable is unset',
      'tracker: { kind: github, api_key: $NO_TOKEN, project: a/b }',
      [
        'error: tracker.api_key: tracker.api_key is required for tracker kind repoissues (github): $NO_TOKEN is not set (line 2, column 26)',
      ],
    ],
    [
      'a key that is only partly there',
      'tracker: { kind: wfboard, endpoint: "https://x", api_key: "me@x:${NO_TOKEN}", project: P }',
      ['warning: tracker.api_key.unset_variable: tracker.api_key is incomplete: $NO_TOKEN is not set (line 2, column 50)'],
    ],
    [
      'an optional endpoint whose variable is unset',
      `${GITHUB}  endpoint: $NO_URL\n`,
      [
        'warning: tracker.endpoint.unset_variable: tracker.endpoint is incomplete: $NO_URL is not set; https://api.example.test is used instead (line 6, column 3)',
      ],
    ],
    [
      'a required key of the wrong type is reported once',
      'tracker: { kind: github, api_key: 123456, project: a/b }',
      ['error: tracker.api_key: must be a string, got a number; put it in quotes (line 2, column 26)'],
    ],
    [
      'a blank project is left to the kind',
      'tracker: { kind: github, api_key: k, project: " " }',
      ['error: tracker.project.format: must have the form <owner>/<repo> (line 2, column 38)'],
    ],
    [
      'states of the wrong type',
      `${GITHUB}  active_states: [a, 5]\n  terminal_states: done\n`,
      [
        'error: tracker.active_states: entry 2 must be a string, got a number; put it in quotes (line 6, column 22)',
        'error: tracker.terminal_states: must be a list, got "done" (line 7, column 3)',
      ],
    ],
    [
      'a list entry without a value',
      `${GITHUB}  active_states: [a, ~]\n`,
      ['error: tracker.active_states: entry 2 must be a string, got nothing (line 6, column 22)'],
    ],
    [
      'no active states where the kind has none',
      'tracker: { kind: file }\nfile: { path: x }',
      ['warning: tracker.active_states.empty: tracker.active_states is not set: nothing will be dispatched'],
    ],
    [
      'empty active states',
      `${GITHUB}  active_states: []\n`,
      ['warning: tracker.active_states.empty: tracker.active_states is empty: nothing will be dispatched (line 6, column 3)'],
    ],
    ['no active states where the defaults only derive', 'tracker: { kind: gitlab, api_key: k, project: a/b }', []],
    [
      'overlapping states of the file kind',
      'tracker: { kind: file, active_states: [todo, Done], terminal_states: [done] }\nfile: { path: x }',
      ['error: tracker.states: the state "Done" is both an active and a terminal state (line 2, column 53)'],
    ],
    [
      'a handoff state among the written active states',
      `${GITHUB}  active_states: [Todo]\n  handoff_state: todo\n`,
      [
        'error: tracker.handoff_state: the handoff state "todo" is also one of the active states: the issue would be dispatched again at once (line 7, column 3)',
      ],
    ],
    [
      'a handoff state among the default active states',
      `${GITHUB}  handoff_state: Backlog\n`,
      [
        'error: tracker.handoff_state: the handoff state "Backlog" is also one of the active states: the issue would be dispatched again at once (line 6, column 3)',
      ],
    ],
    [
      'a handoff state among the defaults that only derive',
      'tracker: { kind: nsproject, api_key: k, project: "1", active_states: [todo], terminal_states: [], handoff_state: done }',
      [
        'error: tracker.handoff_state: the handoff state "done" is also one of the terminal states: a handoff does not finish an issue (line 2, column 99)',
      ],
    ],
    [
      'a handoff state among the default terminal states',
      `${GITHUB}  handoff_state: wontfix\n`,
      [
        'error: tracker.handoff_state: the handoff state "wontfix" is also one of the terminal states: a handoff does not finish an issue (line 6, column 3)',
      ],
    ],
    [
      'an empty handoff state',
      `${GITHUB}  handoff_state: " "\n`,
      ['error: tracker.handoff_state: must not be empty (line 6, column 3)'],
    ],
    [
      'an in-progress state that is not active',
      `${GITHUB}  in_progress_state: doing\n`,
      ['error: tracker.in_progress_state: the in-progress state "doing" must be one of the active states (line 6, column 3)'],
    ],
    [
      'an in-progress state that is terminal',
      `${GITHUB}  active_states: [a]\n  terminal_states: [A]\n  in_progress_state: a\n`,
      ['error: tracker.in_progress_state: the in-progress state "a" must not be one of the terminal states (line 8, column 3)'],
    ],
    [
      'an in-progress state that is the handoff state',
      `${GITHUB}  handoff_state: review\n  in_progress_state: Review\n`,
      [
        'error: tracker.in_progress_state: the in-progress state "Review" must be one of the active states (line 7, column 3)',
        'error: tracker.in_progress_state: the in-progress state "Review" must not be the handoff state (line 7, column 3)',
      ],
    ],
    [
      'a no-change state without a handoff state',
      `${GITHUB}  no_change_state: done\n`,
      ['error: tracker.no_change_state: tracker.no_change_state needs tracker.handoff_state (line 6, column 3)'],
    ],
    [
      'a no-change state that is active',
      `${GITHUB}  handoff_state: review\n  no_change_state: backlog\n`,
      [
        'error: tracker.no_change_state: the no-change state "backlog" is one of the active states: the issue would be dispatched again at once (line 7, column 3)',
      ],
    ],
    ['a no-change state that is terminal', `${GITHUB}  handoff_state: review\n  no_change_state: done\n`, []],
    ['a no-change state that is the handoff state', `${GITHUB}  handoff_state: review\n  no_change_state: review\n`, []],
    ['a no-change state of no list', `${GITHUB}  handoff_state: review\n  no_change_state: parked\n`, []],
    [
      'comments of the wrong type',
      `${GITHUB}  comments: { on_failure: 1, on_fail: true }\n`,
      [
        'error: tracker.comments.on_failure: must be true or false, got 1 (line 6, column 15)',
        'warning: config.unknown_key: unknown key `tracker.comments.on_fail`; did you mean `tracker.comments.on_failure`? (line 6, column 30)',
      ],
    ],
    [
      "a missing option of the kind's own block",
      'tracker: { kind: file, active_states: [a] }',
      ['error: file.path: file.path is required'],
    ],
  ];

  it.each(rows)('%s', (_, yaml, expected) => {
    expect(lines(yaml)).toEqual(expected);
  });

  it('runs the checks of the kind after the generic ones, with the environment', () => {
    expect(lines('tracker: { kind: github, project: a b }', { env: { FORGE_TOKEN: 'tok-123456' } })).toEqual([
      'error: tracker.api_key: tracker.api_key is required for tracker kind repoissues (github)',
      'error: tracker.project.format: must have the form <owner>/<repo> (line 2, column 26)',
      'warning: tracker.api_key.forge_token_hint: FORGE_TOKEN is set: write $FORGE_TOKEN',
    ]);
  });

  it('tells the kind where the file is', () => {
    const { providers } = fakeContext();
    const telling = providers.map((provider) => ({
      ...provider,
      check: ({ workflowDir }: ProviderCheckInput) => [{ severity: 'warning', check: 'x', message: workflowDir ?? '' } as const],
    }));
    expect(lines(FILE_TRACKER, { providers: telling })).toEqual(['warning: x: /srv/team a']);
  });

  it('lets a kind repeat nothing that was said for every kind', () => {
    const { providers } = fakeContext();
    const repeated = { severity: 'warning', check: 'tracker.active_states.empty', message: 'again' } as const;
    const chatty = providers.map((provider) => ({ ...provider, check: () => [repeated] }));
    expect(lines('tracker: { kind: file }\nfile: { path: x }', { providers: chatty })).toHaveLength(1);
  });

  it('skips the checks of a kind whose block cannot be read: they may rely on it', () => {
    const { providers } = fakeContext();
    const check = (): never => {
      throw new Error('called');
    };
    const strict = providers.map((provider) => ({ ...provider, check }));
    expect(lines('tracker: { kind: file, active_states: [a] }', { providers: strict })).toEqual([
      'error: file.path: file.path is required',
    ]);
  });
});

describe('states in force', () => {
  const settings = (yaml: string) => read(yaml).settings?.tracker;
  const rows: readonly (readonly [title: string, yaml: string, active: readonly string[], terminal: readonly string[]])[] = [
    ['omitted, defaults gate', 'kind: github', ['backlog', 'in-progress'], ['done', 'wontfix']],
    ['empty, defaults gate', 'kind: github, active_states: [], terminal_states: []', [], []],
    ['omitted, defaults only derive', 'kind: gitlab', [], ['done', 'wontfix']],
    ['empty, defaults only derive', 'kind: gitlab, active_states: [], terminal_states: []', [], ['done', 'wontfix']],
    ['written', 'kind: gitlab, active_states: [" a", "", b ], terminal_states: [c]', ['a', 'b'], ['c']],
  ];

  it.each(rows)('%s', (_, keys, active, terminal) => {
    const tracker = settings(`tracker: { ${keys}, api_key: k, project: a/b }`);
    expect({ active: tracker?.activeStates, terminal: tracker?.terminalStates }).toEqual({ active, terminal });
  });
});

describe('problems', () => {
  it('come in file order for single keys, then tracker, kind, agent, reactions, template', () => {
    const yaml =
      'zz: 1\nserver: { port: x }\npolling: { interval_ms: 1 }\nagent: { kind: acp }\nreactions: { ci_failure: { provider: file } }\ntracker: { kind: github, project: x }';
    const template = { severity: 'error', check: 'template', message: 'bad (line 9, column 1)' } as const;
    const { problems } = read(yaml, { checkTemplate: () => [template] });
    expect(problems.map(({ check }) => check)).toEqual([
      'config.unknown_key',
      'server.port',
      'polling.interval_ms',
      'tracker.api_key',
      'tracker.project.format',
      'agent.command',
      'reactions.ci_failure.provider',
      'template',
    ]);
  });

  it('of the template refuse the file, and are looked for at the right line', () => {
    const seen: unknown[] = [];
    const checkTemplate = (body: string, firstLine: number) => {
      seen.push([body, firstLine]);
      return [{ severity: 'error', check: 'template', message: 'x' }] as const;
    };
    expect(read(FILE_TRACKER, { checkTemplate }, '\n  \n  A\nB  \n\n').settings).toBeNull();
    expect(seen).toEqual([['  A\nB', 8]]);
  });

  it('are none for an empty body: there is a prompt to fall back on', () => {
    const { problems, settings, body } = read(FILE_TRACKER, undefined, '  \n');
    expect(problems).toEqual([]);
    expect(settings).not.toBeNull();
    expect(body).toBe('');
  });

  it('point at the alias a block is written under', () => {
    const { providers } = fakeContext();
    const fault = { severity: 'warning', check: 'nsproject.x', message: 'm', key: ['nsproject', 'page_size'] } as const;
    const picky = providers.map((provider) => ({ ...provider, check: () => [fault] }));
    expect(
      lines('tracker: { kind: gitlab, api_key: k, project: a/b, active_states: [a] }\ngitlab:\n  page_size: 3', {
        providers: picky,
      }),
    ).toEqual(['warning: nsproject.x: m (line 4, column 3)']);
  });

  it('find a key behind an alias', () => {
    expect(lines(`${FILE_TRACKER}polling: &p { interval_ms: 0 }\nzz: *p`)).toContain(
      'error: polling.interval_ms: must be a whole number of at least 10, got 0 (line 4, column 15)',
    );
  });
});

it('takes a file of many unknown keys in time that grows with the file', () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `unknown_${index}: 1`).join('\n');
  const before = process.cpuUsage();
  const found = added(keys);
  const { user, system } = process.cpuUsage(before);
  expect(found).toHaveLength(20_000);
  // Compared each with each, as it once was, they took five times as long.
  expect((user + system) / 1e6).toBeLessThan(4);
});

describe('a credential in the file itself', () => {
  it('warns, wherever it stands, and never shows it', () => {
    const found = added(
      'server: { token: abcdefgh12345678, webhooks: { secret: hunter2hunter2 } }\ngitlab: { api_key: glpat-0123456789abcdef }\n',
    );
    expect(found.map((line) => line.split(':').slice(0, 2).join(':'))).toEqual([
      'warning: gitlab.api_key.literal',
      'warning: server.token.literal',
      'warning: server.webhooks.secret.literal',
    ]);
    expect(found.join('\n')).not.toMatch(/abcdefgh|hunter2|glpat/);
    expect(found[0]).toMatch(/write \$NAME \(line \d+, column \d+\)$/);
  });
});
