import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Problem } from '../domain/model/problem.ts';
import type { Settings } from '../domain/model/settings.ts';
import { agentSettings, checkAgent, selfReviewSettings, tokenRates } from './agent.ts';
import { type FrontMatter, type PlainMap, readFrontMatter, withPosition } from './document.ts';
import { blockNames } from './blocks.ts';
import { type ExpandedConnection, type Env, expandConnection } from './expand.ts';
import { readCredentialFiles } from './credential-files.ts';
import { readWorkflowText } from './file.ts';
import { splitFrontMatter } from './front-matter.ts';
import { checkLiteralCredentials } from './literal-credentials.ts';
import { readDbPath, readWorkspaceRoot } from './paths.ts';
import { readNotifications } from './notifications.ts';
import { readRepo, repoSecrets } from './repo.ts';
import { checkReactions } from './reaction-checks.ts';
import { reactionSettings } from './reactions.ts';
import { collectSecrets, maskCollected, type Secrets, suspectConnection } from './secrets.ts';
import { readServer } from './server.ts';
import { readStore } from './store.ts';
import { type Kinds, type CheckedFrontMatter, checkFrontMatter } from './check-front-matter.ts';
import { readWorker, withinHosts } from './worker.ts';
import { checkProvider, readTracker, trackerSettings } from './tracker.ts';
import { checkTracker, checkTrackerKind } from './tracker-checks.ts';

/** What a workflow file is judged by besides its own text. */
export interface LoadContext extends Kinds {
  readonly env: Env;
  readonly homeDir: string;
  /** Finds faults of the prompt template; `firstLine` is the body's first line in the file. */
  checkTemplate(body: string, firstLine: number): readonly Problem[];
}

export interface LoadedWorkflow {
  /** In the order of detection; each message ends with its position where it has one. */
  readonly problems: readonly Problem[];
  /** Null when there is an error. */
  readonly settings: Settings | null;
  /** Absolute, also when something else is wrong; null when the file could not be read at all. */
  readonly dbPath: string | null;
  /** The PostgreSQL database that takes its place; null where there is none. */
  readonly storeUrl: string | null;
  readonly body: string;
  readonly bodyLine: number;
  /** Absolute. */
  readonly path: string;
  /** Values that must be masked wherever text is shown. */
  readonly secrets: readonly string[];
  /** Environment variables that agents must not inherit. */
  readonly secretVariables: readonly string[];
  /** Of the content that was read; what a watcher compares with. */
  readonly digest: string;
}

/** Reads and checks a workflow file. Touches nothing but the file. Never rejects for a fault of it. */
export async function loadWorkflow(workflowPath: string, context: LoadContext): Promise<LoadedWorkflow> {
  const file = await readWorkflowText(workflowPath);
  if (typeof file.content === 'string') {
    const { env, faults } = await readCredentialFiles(file.content, context.env, path.dirname(path.resolve(workflowPath)));
    const read = readWorkflow(file.content, workflowPath, { ...context, env });
    return { ...withFaults(read, faults), digest: file.digest };
  }
  return { ...nothingLoaded(path.resolve(workflowPath), [file.content]), digest: file.digest };
}

/** Only of variables that credentials refer to: any text of the file may look like a reference. */
function withFaults(read: LoadedWorkflow, faults: ReadonlyMap<string, Problem>): LoadedWorkflow {
  const problems = read.secretVariables.flatMap((name) => faults.get(name) ?? []);
  return problems.length === 0 ? read : { ...read, problems: [...problems, ...read.problems], settings: null };
}

/** The same for a text that is already at hand. */
export function readWorkflow(text: string, workflowPath: string, context: LoadContext): LoadedWorkflow {
  const absolute = path.resolve(workflowPath);
  const digest = createHash('sha256').update(text).digest('hex');
  const parts = splitFrontMatter(text);
  if ('check' in parts) return { ...nothingLoaded(absolute, [parts]), digest };
  const matter = readFrontMatter(parts);
  const read = matter.data === null ? UNREADABLE : readSettings(matter.data, matter, absolute, context);
  const problems = [...matter.problems, ...read.problems, ...context.checkTemplate(parts.body, parts.bodyLine)].map(
    (problem) => ({
      ...problem,
      message: maskCollected(problem.message, read.secrets),
    }),
  );
  const failed = problems.some(({ severity }) => severity === 'error');
  return {
    problems,
    settings: failed ? null : read.settings,
    dbPath: read.dbPath,
    storeUrl: read.storeUrl,
    body: parts.body,
    bodyLine: parts.bodyLine,
    path: absolute,
    secrets: read.secrets.values,
    secretVariables: read.secrets.variables,
    digest,
  };
}

function nothingLoaded(absolute: string, problems: readonly Problem[]): Omit<LoadedWorkflow, 'digest'> {
  return {
    problems,
    settings: null,
    dbPath: null,
    storeUrl: null,
    body: '',
    bodyLine: 1,
    path: absolute,
    secrets: [],
    secretVariables: [],
  };
}

interface ReadSettings {
  readonly settings: Settings | null;
  readonly dbPath: string | null;
  readonly storeUrl: string | null;
  readonly problems: readonly Problem[];
  readonly secrets: Secrets;
}

const UNREADABLE: ReadSettings = {
  settings: null,
  dbPath: null,
  storeUrl: null,
  problems: [],
  secrets: { values: [], variables: [] },
};

/** From data to settings: every key by itself first, then what holds between them. */
function readSettings(data: PlainMap, matter: FrontMatter, workflowPath: string, context: LoadContext): ReadSettings {
  const read = checkFrontMatter(data, context);
  const { sections, blocks, provider } = read;
  const blockConnections = connectionsOf(read, context);
  const tracker =
    provider && readTracker(provider, sections.tracker, blocks.providers.get(provider.kind)?.options ?? null, context.env);
  const trackerConnection = tracker?.connection ?? suspectConnection(sections.tracker, context.env);
  const reactions = checkReactions(read, { providers: context.providers, blockConnections, tracker });
  const root = readWorkspaceRoot(sections.workspace.root, { ...context, workflowPath });
  const dbPath = readDbPath(read.dbPath, { ...context, workflowPath });
  const server = readServer(sections.server, context.env);
  const notifications = readNotifications(read.notifications, context.env);
  const store = readStore(sections.store, context.env);
  // A database that cannot be named is not replaced by the file.
  const place = store.problems.length === 0 ? dbPath.path : null;
  const generic = [...checkTrackerKind(read, context.providers), ...(tracker ? checkTracker(tracker, read.isFaulty) : [])];
  const role = (kind: string | undefined) => blocks.providers.get(kind ?? '')?.role ?? {};
  const trackerRead = tracker && trackerSettings(tracker, role(tracker.provider.kind), path.dirname(workflowPath));
  const repo = readRepo(sections.workspace, {
    env: context.env,
    tracker: trackerRead,
    trackerIsForge: tracker?.provider.roles.includes('requests') ?? false,
    reactions: reactions.connection,
  });
  const worker = readWorker(read, workflowPath);
  const problems = [
    ...inFileOrder(
      [...read.problems, ...root.problems, ...dbPath.problems, ...server.problems, ...store.problems, ...notifications.problems],
      matter,
    ),
    ...generic,
    ...(tracker ? withoutRepeats(checkProvider(tracker, context.env, path.dirname(workflowPath)), generic) : []),
    ...checkAgent(read, context.agentKinds),
    ...reactions.problems,
    ...repo.problems,
    ...worker.problems,
    ...checkLiteralCredentials(data, context.providers.flatMap(blockNames)),
  ].map((problem) => placed(problem, matter, read));
  const secrets = collectSecrets(
    [trackerConnection, ...blockConnections.values(), repoSecrets(sections.workspace, context.env)],
    [...server.secrets, ...store.secrets, ...notifications.secrets],
    context.env,
  );
  if (!tracker || !trackerRead) return { settings: null, dbPath: place, storeUrl: store.url, problems, secrets };
  const settings: Settings = {
    tracker: trackerRead,
    polling: { intervalMs: sections.polling.interval_ms },
    workspace: {
      root: root.path,
      retentionDays: sections.workspace.retention_days,
      removedDays: sections.workspace.removed_days,
      repo: repo.repo,
    },
    hooks: hookSettings(read),
    agent: withinHosts(agentSettings(sections.agent), worker.settings),
    worker: worker.settings,
    agentOptions: blocks.agents.get(sections.agent.kind) ?? {},
    server: server.settings,
    logging: sections.logging,
    dbPath: dbPath.path,
    storeUrl: store.url,
    dbRetentionDays: read.dbRetentionDays,
    tokenRates: tokenRates(sections.token_rates),
    selfReview: selfReviewSettings(sections.self_review),
    notifications: notifications.targets,
    reactions: reactionSettings(sections.reactions, role(reactions.connection?.kind), reactions),
  };
  return { settings, dbPath: place, storeUrl: store.url, problems, secrets };
}

function connectionsOf({ blocks }: CheckedFrontMatter, context: LoadContext): ReadonlyMap<string, ExpandedConnection> {
  const known = context.providers.filter(({ kind }) => blocks.providers.has(kind));
  return new Map(
    known.map(({ kind, expansion }) => [kind, expandConnection(blocks.providers.get(kind)?.role ?? {}, expansion, context.env)]),
  );
}

function hookSettings({ sections: { hooks } }: CheckedFrontMatter): Settings['hooks'] {
  return {
    afterCreate: hooks.after_create ?? null,
    beforeRun: hooks.before_run ?? null,
    afterRun: hooks.after_run ?? null,
    beforeRemove: hooks.before_remove ?? null,
    timeoutMs: hooks.timeout_ms,
  };
}

/** Faults of single keys read best from top to bottom; those without a position come last. */
function inFileOrder(problems: readonly Problem[], matter: FrontMatter): readonly Problem[] {
  const rank = (problem: Problem) => {
    const position = matter.positionOf(problem.key ?? []);
    return position ? position.line * 1e6 + position.column : Infinity;
  };
  return problems
    .map((problem) => ({ problem, at: rank(problem) }))
    .toSorted((a, b) => compare(a.at, b.at))
    .map(({ problem }) => problem);
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

/** A kind may check for itself what was already said about it for every kind. */
function withoutRepeats(found: readonly Problem[], said: readonly Problem[]): readonly Problem[] {
  return found.filter(({ severity, check }) => !said.some((problem) => problem.severity === severity && problem.check === check));
}

/** A kind names its own block by its canonical name; the file may use an alias. */
function placed(problem: Problem, matter: FrontMatter, read: CheckedFrontMatter): Problem {
  const [first, ...rest] = problem.key ?? [];
  if (first === undefined) return problem;
  const key = [read.blocks.providers.get(String(first))?.name ?? first, ...rest];
  return { ...problem, key, message: withPosition(problem.message, matter.positionOf(key)) };
}
