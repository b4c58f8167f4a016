import type { AgentSettings, Settings, TrackerSettings } from '../../src/domain/model/settings.ts';

/** Settings as a small workflow file would give them. */
export function settingsWith(
  parts: {
    tracker?: Partial<TrackerSettings>;
    agent?: Partial<AgentSettings>;
    rest?: Partial<Omit<Settings, 'tracker' | 'agent'>>;
  } = {},
): Settings {
  return {
    tracker: {
      kind: 'file',
      name: 'file',
      identity: 'file /issues.json',
      apiKey: '',
      project: '',
      endpoint: '',
      activeStates: ['todo', 'doing'],
      terminalStates: ['done'],
      handoffState: 'review',
      inProgressState: null,
      noChangeState: null,
      queryFilter: '',
      authors: 'anyone',
      approvalLabel: null,
      quotaReservePercent: 20,
      userAgent: null,
      comments: { onDispatch: false, onCompletion: false, onFailure: false },
      options: {},
      ...parts.tracker,
    },
    polling: { intervalMs: 30_000 },
    workspace: { root: '/workspaces', retentionDays: 0, removedDays: 7, repo: null },
    hooks: { afterCreate: null, beforeRun: null, afterRun: null, beforeRemove: null, timeoutMs: 60_000 },
    agent: {
      kind: 'mock',
      command: null,
      user: null,
      maxTurns: 3,
      maxConcurrentAgents: 3,
      maxConcurrentAgentsByState: {},
      turnTimeoutMs: 3_600_000,
      readTimeoutMs: 5_000,
      stallTimeoutMs: 300_000,
      toolTimeoutMs: 1_800_000,
      stopGraceMs: 5_000,
      maxRetryBackoffMs: 300_000,
      runOn: null,
      maxAttempts: 0,
      maxSessions: 0,
      instructions: true,
      evidence: 'any',
      maxTokens: 0,
      maxCostUsd: 0,
      maxRecordedBytes: 2_097_152,
      ...parts.agent,
    },
    agentOptions: {},
    worker: { sshHosts: [], sshRoot: '', sshEnv: [], maxPerHost: 0 },
    server: { port: null, host: '127.0.0.1', token: null, allowedHosts: [], publicUrl: null, webhookSecret: null },
    logging: { level: 'info', format: 'text' },
    storeUrl: null,
    dbPath: '/db',
    dbRetentionDays: 90,
    tokenRates: {},
    selfReview: { enabled: false, maxIterations: 3, verificationCommands: [], verificationTimeoutMs: 120_000 },
    reactions: { provider: null, connection: null, projects: [], votes: 'collaborators', on: {} },
    notifications: [],
    ...parts.rest,
  };
}
