import path from 'node:path';
import type { Problem } from '../domain/model/problem.ts';
import type { Settings } from '../domain/model/settings.ts';
import { agentSettings, checkAgent, selfReviewSettings, tokenRates } from './agent.ts';
import { type FrontMatter, nearestPlace, placedAt, type PlainMap } from './document.ts';
import { blockNames } from './blocks.ts';
import { type ExpandedConnection, type Env, expandConnection } from './expand.ts';
import { checkLiteralCredentials } from './literal-credentials.ts';
import { readDbPath, readWorkspaceRoot } from './paths.ts';
import { readNotifications } from './notifications.ts';
import { readRepo, repoSecrets } from './repo.ts';
import { checkReactions } from './reaction-checks.ts';
import { reactionSettings } from './reactions.ts';
import { collectSecrets, type Secrets, suspectConnection, suspectKeys } from './secrets.ts';
import { readServer } from './server.ts';
import { readStore } from './store.ts';
import { type Kinds, type CheckedFrontMatter, checkFrontMatter } from './check-front-matter.ts';
import { readWorker, withinHosts } from './worker.ts';
import { checkProvider, readTracker, trackerSettings } from './tracker.ts';
import { checkTracker, checkTrackerKind } from './tracker-checks.ts';

/** What settings are judged by besides the file's own data. */
export interface SettingsContext extends Kinds {
  readonly env: Env;
  readonly homeDir: string;
}

export interface ReadSettings {
  readonly settings: Settings | null;
  readonly dbPath: string | null;
  readonly storeUrl: string | null;
  readonly logFormat: Settings['logging']['format'];
  readonly problems: readonly Problem[];
  readonly secrets: Secrets;
}

interface PlacedContext extends SettingsContext {
  /** Absolute. */
  readonly workflowPath: string;
}

/** From data to settings: every key by itself first, then what holds between them. */
export function settingsFrom(data: PlainMap, matter: FrontMatter, context: PlacedContext): ReadSettings {
  const read = checkFrontMatter(data, context);
  const parts = readParts(read, context);
  const { store, dbPath } = parts;
  const literal = checkLiteralCredentials(data, context.providers.flatMap(blockNames));
  return {
    settings: settingsOf(read, parts),
    // A database that cannot be named is not replaced by the file.
    dbPath: store.problems.length === 0 ? dbPath.path : null,
    storeUrl: store.url,
    logFormat: read.sections.logging.format,
    problems: [...problemsOf(read, parts, matter, context), ...literal].map((problem) => placed(problem, matter, read)),
    secrets: secretsOf(data, read, parts, context),
  };
}

type Parts = ReturnType<typeof readParts>;

/** Each part of the settings, with what is wrong with it. */
function readParts(read: CheckedFrontMatter, context: PlacedContext) {
  const { sections, provider, blocks } = read;
  const { env, workflowPath } = context;
  const blockConnections = connectionsOf(read, context);
  const tracker = provider && readTracker(provider, sections.tracker, blocks.providers.get(provider.kind)?.options ?? null, env);
  const reactions = checkReactions(read, { providers: context.providers, blockConnections, tracker });
  const trackerRead = tracker && trackerSettings(tracker, roleOf(read, tracker.provider.kind), path.dirname(workflowPath));
  return {
    blockConnections,
    tracker,
    trackerSettings: trackerRead,
    reactions,
    root: readWorkspaceRoot(sections.workspace.root, context),
    dbPath: readDbPath(read.dbPath, context),
    server: readServer(sections.server, env),
    notifications: readNotifications(read.notifications, env),
    store: readStore(sections.store, env),
    repo: readRepo(sections.workspace, {
      env,
      tracker: trackerRead,
      trackerIsForge: tracker?.provider.roles.includes('requests') ?? false,
      reactions: reactions.connection,
    }),
    worker: readWorker(read, workflowPath),
  };
}

/** The blocks named after tracker kinds, with references resolved. */
function connectionsOf({ blocks }: CheckedFrontMatter, context: SettingsContext): ReadonlyMap<string, ExpandedConnection> {
  const known = context.providers.filter(({ kind }) => blocks.providers.has(kind));
  return new Map(
    known.map(({ kind, expansion }) => [kind, expandConnection(blocks.providers.get(kind)?.role ?? {}, expansion, context.env)]),
  );
}

/** What the block of a kind says about the kind in its role. */
function roleOf({ blocks }: CheckedFrontMatter, kind: string | undefined): PlainMap {
  return blocks.providers.get(kind ?? '')?.role ?? {};
}

/** Null where the tracker could not be read. */
function settingsOf(read: CheckedFrontMatter, parts: Parts): Settings | null {
  const { sections, blocks } = read;
  const { reactions, worker, store } = parts;
  if (!parts.trackerSettings) return null;
  return {
    tracker: parts.trackerSettings,
    polling: { intervalMs: sections.polling.interval_ms },
    workspace: {
      root: parts.root.path,
      retentionDays: sections.workspace.retention_days,
      removedDays: sections.workspace.removed_days,
      repo: parts.repo.repo,
    },
    hooks: hookSettings(read),
    agent: withinHosts(agentSettings(sections.agent), worker.settings),
    worker: worker.settings,
    agentOptions: blocks.agents.get(sections.agent.kind) ?? {},
    server: parts.server.settings,
    logging: sections.logging,
    dbPath: parts.dbPath.path,
    storeUrl: store.url,
    dbRetentionDays: read.dbRetentionDays,
    tokenRates: tokenRates(sections.token_rates),
    selfReview: selfReviewSettings(sections.self_review),
    notifications: parts.notifications.targets,
    reactions: reactionSettings(sections.reactions, roleOf(read, reactions.connection?.kind), reactions),
  };
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

/** Faults of single keys first, then those that show only when keys are held against each other. */
function problemsOf(
  read: CheckedFrontMatter,
  parts: Parts,
  matter: FrontMatter,
  { providers, agentKinds, env, workflowPath }: PlacedContext,
): readonly Problem[] {
  const { tracker, root, dbPath, server, store, notifications, reactions, repo, worker } = parts;
  const generic = [...checkTrackerKind(read, providers), ...(tracker ? checkTracker(tracker, read.isFaulty) : [])];
  const ofKeys = [read, root, dbPath, server, store, notifications].flatMap(({ problems }) => problems);
  return [
    ...inFileOrder(ofKeys, matter),
    ...generic,
    ...(tracker ? withoutRepeats(checkProvider(tracker, env, path.dirname(workflowPath)), generic) : []),
    ...checkAgent(read, agentKinds, parts.trackerSettings?.activeStates ?? []),
    ...reactions.problems,
    ...repo.problems,
    ...worker.problems,
  ];
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
  return placedAt({ ...problem, key }, nearestPlace(key, matter));
}

/** Everything that must never be shown, also where the tracker could not be read. */
function secretsOf(data: PlainMap, { sections }: CheckedFrontMatter, parts: Parts, { providers, env }: SettingsContext): Secrets {
  const { tracker, blockConnections, server, store, notifications } = parts;
  const blocks = ['tracker', ...providers.flatMap(blockNames)].map((name) => data[name]);
  return collectSecrets(
    [
      ...(tracker ? [tracker.connection] : []),
      ...blockConnections.values(),
      repoSecrets(sections.workspace, env),
      ...blocks.map((block) => suspectConnection(block, env)),
    ],
    [...server.secrets, ...store.secrets, ...notifications.secrets, ...suspectKeys(data['tracker'], env)],
    env,
  );
}
