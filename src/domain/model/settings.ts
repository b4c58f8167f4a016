import type { NotificationTarget } from './notification.ts';
import type { ReactionOptions } from './reaction.ts';

/** The typed form of a workflow file: what the front matter means after expansion, defaults and checks. */
export interface Settings {
  readonly tracker: TrackerSettings;
  readonly polling: { readonly intervalMs: number };
  readonly workspace: WorkspaceSettings;
  readonly hooks: HookSettings;
  readonly agent: AgentSettings;
  /** The agent kind's own block, already checked by that kind's schema. */
  readonly agentOptions: Readonly<Record<string, unknown>>;
  readonly worker: WorkerSettings;
  readonly server: ServerSettings;
  readonly logging: { readonly level: 'debug' | 'info' | 'warn' | 'error'; readonly format: 'text' | 'json' };
  /** Absolute. */
  readonly dbPath: string;
  /** The PostgreSQL database that takes its place, with its password; null where there is none. */
  readonly storeUrl: string | null;
  /** 0 keeps finished runs for ever. */
  readonly dbRetentionDays: number;
  readonly tokenRates: Readonly<Record<string, TokenRates>>;
  readonly selfReview: SelfReviewSettings;
  readonly reactions: ReactionSettings;
  readonly notifications: readonly NotificationTarget[];
}

export interface ServerSettings {
  /** Null serves no HTTP. */
  readonly port: number | null;
  readonly host: string;
  /** Asked of everybody where it is set. */
  readonly token: string | null;
  readonly allowedHosts: readonly string[];
  /** Where people reach the dashboard from elsewhere; null where only the address it listens on is known. */
  readonly publicUrl: string | null;
  /** Null takes no webhooks. */
  readonly webhookSecret: string | null;
}

export interface TrackerSettings {
  /** Canonical kind, also when the file used an alias. */
  readonly kind: string;
  /** What the file calls it: what people are shown. */
  readonly name: string;
  /** Kind, endpoint and project as one text: whose issues these are. Two that are equal are one tracker. */
  readonly identity: string;
  /** Empty where the kind needs none. */
  readonly apiKey: string;
  readonly project: string;
  /** With the kind's default filled in; empty where the kind has none. */
  readonly endpoint: string;
  /** States that gate dispatch. The kind's defaults are filled in, except where the kind says otherwise. */
  readonly activeStates: readonly string[];
  readonly terminalStates: readonly string[];
  readonly handoffState: string | null;
  readonly inProgressState: string | null;
  /** Where an issue goes that needs no change; the handoff state unless set. */
  readonly noChangeState: string | null;
  readonly queryFilter: string;
  /** Whose issues are worked on and whose comments reach a prompt: a word, or user names. */
  readonly authors: Trust | readonly string[];
  /** Only issues that carry it are worked on; lowercased. */
  readonly approvalLabel: string | null;
  /** The share of the tracker's quota that polls leave to people. */
  readonly quotaReservePercent: number;
  readonly userAgent: string | null;
  readonly comments: { readonly onDispatch: boolean; readonly onCompletion: boolean; readonly onFailure: boolean };
  /** The kind's own top-level block, already checked by that kind's schema. */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface WorkspaceSettings {
  /** Absolute. */
  readonly root: string;
  /** 0 keeps for ever. */
  readonly retentionDays: number;
  /** How long a directory that nobody marked is kept after it was moved aside. */
  readonly removedDays: number;
  /** Null: hooks fill the workspaces. */
  readonly repo: RepoSettings | null;
}

/** The repository that workspaces are checked out from and that finished work is pushed to. */
export interface RepoSettings {
  /** Without a credential in it. */
  readonly url: string;
  /** For https addresses of a forge that the credential belongs to; null where git has to do without. */
  readonly token: string | null;
  /** Null: the default branch of the remote. */
  readonly baseBranch: string | null;
  /** Whether finished work is pushed and proposed. */
  readonly push: boolean;
  readonly owner: string;
  readonly name: string;
  /** Where requests are opened; null: branches are pushed and nothing more. */
  readonly connection: ScmConnection | null;
}

export interface HookSettings {
  readonly afterCreate: string | null;
  readonly beforeRun: string | null;
  readonly afterRun: string | null;
  readonly beforeRemove: string | null;
  readonly timeoutMs: number;
}

/** A user of the machine. */
export interface AgentUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

export interface AgentSettings {
  readonly kind: string;
  /** Program and arguments, or null for the kind's own. */
  readonly command: readonly string[] | null;
  /** Whom agents, hooks and verification commands run as; null for the daemon's own user. */
  readonly user: AgentUser | null;
  readonly maxTurns: number;
  readonly maxConcurrentAgents: number;
  /** Keyed by normalized state name. */
  readonly maxConcurrentAgentsByState: Readonly<Record<string, number>>;
  readonly turnTimeoutMs: number;
  readonly readTimeoutMs: number;
  /** 0 or less turns stall detection off. */
  readonly stallTimeoutMs: number;
  /** The same while a tool call is under way. */
  readonly toolTimeoutMs: number;
  readonly stopGraceMs: number;
  readonly maxRetryBackoffMs: number;
  /** Labels of the workers that take its runs; null: they run where the service runs. */
  readonly runOn: readonly string[] | null;
  /** The four below: 0 means no limit. */
  readonly maxAttempts: number;
  readonly maxSessions: number;
  /** Whether the first prompt of a run says how the agent ends its work and which tools it has. */
  readonly instructions: boolean;
  /** What a run must show: words or tool calls (`any`), or also a change in the workspace (`changes`). */
  readonly evidence: 'any' | 'changes';
  readonly maxTokens: number;
  readonly maxCostUsd: number;
  /** How much of a run's events is kept. */
  readonly maxRecordedBytes: number;
}

/** Hosts that agents run on besides this machine. */
export interface WorkerSettings {
  /** As OpenSSH knows them; none: agents run on this machine. */
  readonly sshHosts: readonly string[];
  /** There: absolute, or with `~/` from the home directory of the account; empty without hosts. */
  readonly sshRoot: string;
  /** Variables of this process that agents there are given besides those of their login. */
  readonly sshEnv: readonly string[];
  /** Sessions at the same time on one host; 0 means no limit. */
  readonly maxPerHost: number;
}

export interface TokenRates {
  readonly inputPerMtok: number;
  readonly outputPerMtok: number;
  /** Null: cached input costs the input rate. */
  readonly cacheReadPerMtok: number | null;
}

export interface SelfReviewSettings {
  readonly enabled: boolean;
  readonly maxIterations: number;
  readonly verificationCommands: readonly string[];
  readonly verificationTimeoutMs: number;
}

/** Whose words count: of anyone, or of those with write access as far as the forge tells. */
export const TRUST = ['anyone', 'collaborators'] as const;
export type Trust = (typeof TRUST)[number];

export interface ReactionSettings {
  /** Canonical kind, or null when none is on. All that are on name the same one. */
  readonly provider: string | null;
  /** Its kind and address as one text, told apart as trackers are. */
  readonly forge?: string;
  /** Projects whose merge requests are looked after, by path (or the id that the tracker is set to). */
  readonly projects: readonly string[];
  /** Whose votes count for and against a merge. */
  readonly votes: Trust;
  /** The reactions that are switched on. */
  readonly on: Readonly<Partial<ReactionOptions>>;
  /** Credentials of the merge-request side: the provider's own block, with the tracker block filling gaps. */
  readonly connection: ScmConnection | null;
}

export interface ScmConnection {
  readonly kind: string;
  /** What the file calls it: the name of its block, else of the provider. */
  readonly name: string;
  readonly apiKey: string;
  readonly endpoint: string;
  readonly project: string;
  readonly userAgent: string;
}
