import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fakeContext } from '../../test/support/config/fake-kinds.ts';
import { formatProblem } from './format.ts';
import { FILE_TRACKER, read, lines, added } from '../../test/support/config/read-workflow.ts';

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
        sshRoot: '',
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
