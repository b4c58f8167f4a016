import { describe, expect, it } from 'vitest';
import { fakeContext } from '../../test/support/config/fake-kinds.ts';
import { FILE_TRACKER, lines, read, added } from '../../test/support/config/read-workflow.ts';

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
    [
      'agent: { max_cost_usd: 99999999999999999999 }',
      'error: agent.max_cost_usd: must be a number of at most 9007199254740991, got 100000000000000000000 (line 4, column 10)',
    ],
    [
      'gitlab: { page_size: 99999999999999999999 }',
      'error: nsproject.page_size: must be at most 100, got 100000000000000000000 (line 4, column 11)',
    ],
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
      'agent: { max_concurrent_agents_by_state: { tood: 1 } }',
      'warning: agent.max_concurrent_agents_by_state.unknown_state: "tood" is none of the active states, so its limit holds nothing back; did you mean "todo"? (line 4, column 44)',
    ],
    [
      'workspace: { repo: ftp://git.example/acme/shop.git }',
      'error: workspace.repo: must start with https://, http://, ssh://, file:// or git@host:, or be an absolute path (line 4, column 14)',
    ],
    [
      'workspace: { repo: acme/shop }',
      'error: workspace.repo: must be an address such as git@host:owner/name.git or https://host/owner/name.git, or an absolute path (line 4, column 14)',
    ],
    [
      'logging: { level: wran }',
      'error: logging.level: must be one of debug, info, warn, error, got "wran"; did you mean "warn"? (line 4, column 12)',
    ],
    ['notifications: [{ format: slack }]', 'error: notifications: entry 1 `url` is required (line 4, column 17)'],
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
    ['agent: { kind: acp }', 'error: agent.command: agent.command is required for agent kind acp (line 4, column 1)'],
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
    [
      'server: { host: localhost }',
      'error: server.token.required: server.host "localhost" is not 127.0.0.1, so server.token is needed: write server.token: $NAME, or leave server.host out (line 4, column 11)',
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
      'error: token_rates.mock.output_per_mtok: token_rates.mock.output_per_mtok is required (line 4, column 16)',
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
      'error: self_review.verification_commands: self_review.verification_commands is required when self_review.enabled is true (line 4, column 1)',
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
    ['pooling:', 'warning: config.unknown_key: unknown key `pooling`; did you mean `polling`? (line 4, column 1)'],
    [
      'server: { prot: null }',
      'warning: config.unknown_key: unknown key `server.prot`; did you mean `server.port`? (line 4, column 11)',
    ],
    [
      'github: { useragent: ~ }',
      'warning: config.unknown_key: unknown key `github.useragent`; did you mean `github.user_agent`? (line 4, column 11)',
    ],
    [
      'agent: { max_cost_usd: }',
      'warning: config.no_value: `agent.max_cost_usd` has no value and counts as not set (line 4, column 10)',
    ],
    [
      'agent:\n  max_tokens: ~',
      'warning: config.no_value: `agent.max_tokens` has no value and counts as not set (line 5, column 3)',
    ],
    [
      'agent: { max_sessions: null }',
      'warning: config.no_value: `agent.max_sessions` has no value and counts as not set (line 4, column 10)',
    ],
    [
      'agent: { max_attempts: }',
      'warning: config.no_value: `agent.max_attempts` has no value and counts as not set (line 4, column 10)',
    ],
    ['server: { token: }', 'warning: config.no_value: `server.token` has no value and counts as not set (line 4, column 11)'],
    [
      'server: { webhooks: { secret: } }',
      'warning: config.no_value: `server.webhooks.secret` has no value and counts as not set (line 4, column 23)',
    ],
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

  it('is told of a repository on plain http, where a token goes along', () => {
    const yaml = `${FILE_TRACKER}workspace: { repo: "http://git.example/acme/shop.git", repo_token: $T }`;
    expect(lines(yaml, { env: { T: 'some-token-of-ours' } })).toEqual([
      'warning: workspace.repo.insecure: workspace.repo http://git.example is plain http: the token is sent in cleartext (line 4, column 14)',
    ]);
    expect(lines(yaml)).toEqual([]);
    expect(lines(yaml.replace('git.example', '127.0.0.1:3000'), { env: { T: 'some-token-of-ours' } })).toEqual([]);
  });

  it('is told of a push without a token, not where the forge on that host lacks its own', () => {
    const repo = (more = '') => `workspace: { repo: "https://git.example/acme/shop.git", push: true${more} }`;
    const needs = 'error: workspace.repo_token: pushing to git.example needs a token';
    expect(added(repo())).toEqual([
      `${needs}: no forge of this file is on that host, so set workspace.repo_token: $NAME, or push: false (line 4, column 1)`,
    ]);
    expect(added(repo(', repo_token: $T'))).toEqual([`${needs}: $T is not set (line 4, column 69)`]);
    const forge = 'tracker: { kind: nsproject, api_key: $T, endpoint: "https://git.example", project: acme/shop }';
    const providers = fakeContext().providers.map((facts) => ({ ...facts, roles: ['requests'] as const }));
    const checks = read(`${forge}\n${repo()}`, { providers }).problems.map(({ check }) => check);
    expect(checks).toContain('tracker.api_key');
    expect(checks).not.toContain('workspace.repo_token');
  });

  it('leaves the settings in force when it is only a warning', () => {
    expect(read(`${FILE_TRACKER}zzzzzz: 1`).settings).not.toBeNull();
    expect(read(`${FILE_TRACKER}polling: 1`).settings).toBeNull();
  });
});
