import type { ZodType } from 'zod';
import type { Notices } from '../domain/model/notice.ts';
import type { Problem } from '../domain/model/problem.ts';
import type { ScmConnection, TrackerSettings, Trust } from '../domain/model/settings.ts';
import type { Clock, Logger, RequestMeter, WritePermission } from './runtime.ts';
import type { RequestOpener } from './scm.ts';
import type { CiProvider } from './ci.ts';
import type { ScmAdapter } from './scm.ts';
import type { Tracker } from './tracker.ts';

/** What a tracker kind says of itself: what its keys mean and how they are checked without the network. */
export interface ProviderFacts {
  /** Canonical kind: what logs, metrics and messages show. */
  readonly kind: string;
  /** Vendor names that mean the same kind. */
  readonly aliases: readonly string[];
  readonly requires: {
    readonly apiKey: boolean;
    readonly project: boolean;
    readonly endpoint: boolean;
    /** The CI role cannot be used without a project. */
    readonly ciProject?: boolean;
  };
  /** Where `$NAME` is replaced: nowhere, only as the whole value, or anywhere in it. */
  readonly expansion: { readonly endpoint: Expansion; readonly apiKey: Expansion; readonly project: Expansion };
  readonly defaults: {
    /** Empty where there is none. */
    readonly endpoint: string;
    readonly activeStates: readonly string[];
    readonly terminalStates: readonly string[];
    /** False: an omitted `active_states` dispatches nothing, the defaults only derive states. */
    readonly activeStatesGateDispatch: boolean;
  };
  /** Where the issues are, for a kind that has neither endpoint nor project. */
  readonly place?: PlaceFacts;
  /** Strict schema of the kind's own top-level block (without the role keys shared by all, see ScmBlock). */
  readonly options: ZodType<Readonly<Record<string, unknown>>>;
  /** The kind's own checks, in the documented order. Generic checks (required keys, state collisions) ran before. */
  check(input: ProviderCheckInput): readonly Problem[];
  /** What would keep its merge-request and CI roles from being built, by the key of its block that is wrong. */
  connectionFaults?(connection: Pick<ScmConnection, 'endpoint' | 'project'>): ConnectionFaults;
  /** A project may lie deeper than `owner/repo`. */
  readonly nestsProjects?: boolean;
  /** What it can do besides tracking issues. */
  readonly roles: readonly ProviderRole[];
  /** Whose reviews count by default; of a kind with merge requests. */
  readonly reviewTrust?: Trust;
  /** It tells who may write to the project: `tracker.authors` may be `collaborators`. */
  readonly tellsCollaborators?: boolean;
  /** An open issue without a state label is taken for one in the first active state. */
  readonly takesUnlabelled?: boolean;
  /** A filter, as an example, that takes the issues of one label only; of a kind that takes those without one. */
  readonly exampleFilter?: string;
  /** A state that is active and terminal is an error of every such file; the others judge it in their own words and severity. */
  readonly refusesOverlap?: boolean;
  /** Its tracker calls send the User-Agent of the file; those of the others always `svc/<version>`. */
  readonly choosesUserAgent?: boolean;
  /** The variables its token is kept in by convention, the first that is set counts. */
  readonly tokenVariables?: readonly string[];
  /** How its token is written where that is more than the token. */
  readonly tokenForm?: string;
  /** Where its repositories are when no other address is given. */
  readonly homeUrl?: string;
  /** How its webhooks are known; absent where it sends none. */
  readonly webhook?: WebhookFacts;
}

export interface PlaceFacts {
  /** The key of its own block that names it. */
  readonly key: string;
  /** What people are asked for. */
  readonly words: string;
  /** The one name of that place. */
  locate(options: Readonly<Record<string, unknown>>, workflowDir: string): string;
}

/** Of headers that are several, the first that is sent counts. */
export interface WebhookFacts {
  readonly signatureHeaders: readonly string[];
  /** What stands there: the secret itself, or what HMAC-SHA256 makes of it and the body, in hexadecimal digits. */
  readonly proof: 'secret' | 'hmac-sha256';
  /** What stands before it. */
  readonly prefix?: string;
  readonly deliveryHeaders: readonly string[];
}

/** Each in words that follow the name of the key. */
export type ConnectionFaults = { readonly [Key in 'endpoint' | 'project']?: string | undefined };

/** Making the labels that are its states, looking after merge requests, reading CI, opening merge requests. */
export type ProviderRole = 'labels' | 'scm' | 'ci' | 'requests';

/** One tracker kind whole: its facts, and how its roles are built. Building makes no request. */
export interface Provider extends ProviderFacts {
  createTracker(settings: TrackerSettings, deps: ProviderDeps): Tracker;
  /** The states or labels there are, read once: it proves token and project too. */
  readBoard(settings: TrackerSettings, deps: ProviderDeps, signal: AbortSignal): Promise<Board>;
  /**
   * A move to a state that is missing fails, and the preflight does not look at `all` of them, or only at active, terminal and
   * handoff states: the board is read once after the first poll, for the rest.
   */
  readonly boardAtStart?: 'all' | 'rest';
  /** Present where states are labels. */
  createLabel?(settings: TrackerSettings, deps: ProviderDeps, name: string, signal: AbortSignal): Promise<void>;
  createScm?(connection: ScmConnection, deps: ProviderDeps): ScmAdapter;
  createCi?(connection: ScmConnection, deps: ProviderDeps): CiProvider;
  createRequests?(connection: ScmConnection, deps: ProviderDeps): RequestOpener;
}

export type Expansion = 'none' | 'whole' | 'anywhere';

/** The tracker block after expansion and before defaults: null is "not written". */
export interface ProviderCheckInput {
  /** The kind, with the name that the workflow file has for it where that is another; the canonical one when not given. */
  readonly kindName?: string;
  readonly apiKey: string | null;
  readonly project: string | null;
  readonly endpoint: string | null;
  readonly activeStates: readonly string[] | null;
  readonly terminalStates: readonly string[] | null;
  readonly handoffState: string | null;
  readonly inProgressState: string | null;
  /** Where an issue goes that needs no change, where it is written. */
  readonly noChangeState?: string | null;
  readonly queryFilter: string | null;
  readonly options: Readonly<Record<string, unknown>>;
  /** The process environment, for hints about conventional token variables. Values are never shown. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Directory of the workflow file, for relative paths. The current directory when not given. */
  readonly workflowDir?: string;
}

export interface ProviderDeps {
  /** The service version for `User-Agent: svc/<version>`. */
  readonly version: string;
  /** Directory of the workflow file, for relative paths. */
  readonly workflowDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of every request; nobody listens where it is not given. */
  readonly meter?: RequestMeter;
  /** Hears of each failure that is tried again at start; absent where records are enough. */
  readonly tellRetry?: TellRetry;
  /** Asked right before each write. Rejects where another daemon leads by now; absent where this one has its database alone. */
  readonly mayWrite?: WritePermission;
}

export type TellRetry = (failure: Notices['tracker:start:failed']) => void;

/** What a tracker lets issues be in, read before anything is configured. */
export interface Board {
  /** Trackers without states of their own use labels. */
  readonly what: 'labels' | 'states';
  readonly states: readonly BoardState[];
  /** A move to one that is missing makes it. */
  readonly createsMissing: boolean;
}

export interface BoardState {
  readonly name: string;
  /** What the tracker itself says of it; null where it says nothing. */
  readonly stage: 'waiting' | 'working' | 'done' | null;
}
