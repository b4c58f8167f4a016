import { TrackerError } from '../../domain/model/errors.ts';
import { type Blocker, type Issue, normalState } from '../../domain/model/issue.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Tracker } from '../../ports/tracker.ts';
import { withRetries } from '../shared/retry.ts';
import { createClient } from './client.ts';
import {
  isPullRequest,
  mapBlocker,
  mapComment,
  mapIssue,
  mapParent,
  nativeState,
  repositoryOf,
  sameRepository,
  stateOf,
} from './map.ts';
import { createRoutes, type Routes } from './routes.ts';
import type { WireIssue } from './schema.ts';
import { KIND, names, readSettings, type GithubSettings, type StateNames } from './settings.ts';

const PREFLIGHT_DELAYS_MS = [1000, 2000, 4000];

/** Issues of one repository, whose states are labels. Makes no request. */
export function createGithubTracker(
  written: TrackerSettings,
  { logger, clock }: Pick<ProviderDeps, 'logger' | 'clock'>,
  preflightDelaysMs: readonly number[] = PREFLIGHT_DELAYS_MS,
): Tracker {
  const settings = readSettings(written);
  const routes = createRoutes(createClient(settings.connection, { logger, clock }), settings.repository, logger);
  const parts: Parts = { settings, routes, logger, toIssue: issueReader(settings, logger) };
  const lookUp = (ids: readonly string[], signal: AbortSignal) => currentStates(parts, ids, signal);
  return {
    kind: KIND,
    fetchCandidateIssues: (signal) => candidates(parts, signal),
    fetchIssueById: (id, signal) => fullIssue(parts, id, signal),
    fetchIssuesByStates: (states, signal) => issuesByStates(parts, names(states), signal),
    fetchIssueStatesByIds: lookUp,
    fetchIssueStatesByIdentifiers: lookUp,
    fetchIssueComments: async (id, signal) => (await routes.comments(id, signal)).map(mapComment),
    transitionIssue: (id, state, signal) => transition(parts, id, normalState(state), signal),
    commentIssue: (id, text, signal) => routes.addComment(id, text, signal),
    labels: { add: routes.addLabel, remove: routes.removeLabel },
    blockers: { read: (id, signal) => blockers(parts, id, signal) },
    preflight: (signal) => preflight(parts, preflightDelaysMs, signal),
  };
}

/** What the operations share. */
interface Parts {
  readonly settings: GithubSettings;
  readonly routes: Routes;
  readonly logger: Logger;
  readonly toIssue: (issue: WireIssue) => Issue;
}

async function candidates({ settings, routes, toIssue }: Parts, signal: AbortSignal): Promise<readonly Issue[]> {
  const query = candidateQuery(settings);
  const read = query === null ? await routes.listOpen(signal) : await routes.search(query, signal);
  const own = read.filter((issue) => nativeState(issue) === 'open' && isOwn(issue, settings));
  return distinct(own, toIssue).filter(({ state }) => settings.states.active.includes(state));
}

// Searches have a small quota of their own, so that there is one only where a filter asks for it.
function candidateQuery({ queryFilter }: GithubSettings): string | null {
  return queryFilter === '' ? null : `state:open ${queryFilter}`;
}

// One after the other, as the remote asks of its clients.
async function fullIssue(parts: Parts, id: string, signal: AbortSignal): Promise<Issue> {
  const { routes, toIssue } = parts;
  const issue = toIssue(await readIssue(routes, id, signal));
  const blockedBy = await blockers(parts, id, signal);
  const parent = await routes.parent(id, signal);
  const comments = await routes.comments(id, signal);
  return { ...issue, blockedBy, parent: parent && mapParent(parent), comments: comments.map(mapComment) };
}

async function blockers({ routes, settings }: Parts, id: string, signal: AbortSignal): Promise<readonly Blocker[]> {
  return (await routes.blockedBy(id, signal)).map((blocker) => mapBlocker(blocker, settings));
}

// The filter narrows what is worked on, not what counts as finished.
async function issuesByStates(parts: Parts, wanted: readonly string[], signal: AbortSignal): Promise<readonly Issue[]> {
  const { routes, settings, toIssue } = parts;
  const read: WireIssue[] = [];
  if (wanted.some((state) => !isTerminal(state, settings.states))) read.push(...(await routes.listOpen(signal)));
  for (const state of wanted.filter((one) => isTerminal(one, settings.states))) {
    read.push(...(await routes.search(`state:closed label:${searchTerm(state)}`, signal)));
  }
  return distinct(read, toIssue).filter(({ state }) => wanted.includes(state));
}

async function currentStates(
  { routes, settings }: Parts,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const id of new Set(ids)) {
    const issue = await whenGone(readIssue(routes, id, signal));
    if (issue) found.set(id, stateOf(issue, settings.states).state);
  }
  return found;
}

/** Failures that no waiting heals: a wrong token, a wrong repository. */
const PREFLIGHT_STOPS: ReadonlySet<string> = new Set(['tracker_auth_error', 'tracker_not_found']);

/** The first page of the candidates, which the first poll then has for nothing. A remote that is only away does not end start-up. */
async function preflight({ routes, settings, logger }: Parts, delaysMs: readonly number[], signal: AbortSignal): Promise<void> {
  try {
    await withRetries(() => routes.probe(candidateQuery(settings), signal), delaysMs, signal);
  } catch (error) {
    if (!(error instanceof TrackerError) || PREFLIGHT_STOPS.has(error.kind)) throw error;
    logger.warn('tracker preflight failed for now, starting all the same', { tracker_kind: KIND, error: error.message });
  }
}

/** Maps an issue, and says once when its labels name several states. */
function issueReader({ repository, states }: GithubSettings, logger: Logger): (issue: WireIssue) => Issue {
  const reported = new Set<string>();
  return (wire) => {
    const issue = mapIssue(wire, { repository, states });
    const { matches } = stateOf(wire, states);
    const key = `${issue.id} ${matches.join(' ')}`;
    if (matches.length > 1 && !reported.has(key)) {
      if (reported.size >= 1000) reported.clear();
      reported.add(key);
      const facts = { issue_id: issue.id, issue_identifier: issue.identifier, state: issue.state, labels: matches.join(', ') };
      logger.warn('issue carries several state labels, the first is kept', facts);
    }
    return issue;
  };
}

/** The issues among the entries, each once: a list that changes while its pages are read repeats some. */
function distinct(read: readonly WireIssue[], toIssue: (issue: WireIssue) => Issue): Issue[] {
  const byNumber = new Map<number, WireIssue>();
  for (const issue of read) if (!isPullRequest(issue)) byNumber.set(issue.number, issue);
  return [...byNumber.values()].map(toIssue);
}

// An OR in the filter undoes the search's own qualifiers, and a number of another repository would mean another issue here.
function isOwn(issue: WireIssue, { repository, queryFilter }: GithubSettings): boolean {
  const home = /\bOR\b/i.test(queryFilter) ? repositoryOf(issue) : undefined;
  return home === undefined || sameRepository(home, repository);
}

/** One issue that is an issue, under its own number. */
async function readIssue(routes: Routes, id: string, signal: AbortSignal): Promise<WireIssue> {
  const issue = await routes.issue(id, signal);
  if (isPullRequest(issue)) throw notFound(id, 'this number is a pull request');
  // A transferred issue redirects to its new place, where it has another number.
  if (String(issue.number) !== id) throw notFound(id, `the issue was moved and is now ${issue.html_url || issue.number}`);
  return issue;
}

function notFound(id: string, detail: string): TrackerError {
  return new TrackerError({ kind: 'tracker_not_found', method: 'issue', path: id, detail });
}

// 410 is the answer for a deleted issue. It must not hide the states of all the others.
async function whenGone(read: Promise<WireIssue>): Promise<WireIssue | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof TrackerError && (error.kind === 'tracker_not_found' || error.status === 410)) return null;
    throw error;
  }
}

// A state in both lists counts as active, as it does when a state is derived.
function isTerminal(state: string, { active, terminal }: StateNames): boolean {
  return terminal.includes(state) && !active.includes(state);
}

/** Bare where that is safe; quoted where a blank or colon would begin another term. */
function searchTerm(label: string): string {
  return /^[\w./-]+$/.test(label) ? label : `"${label.replace(/["\\]/g, '\\$&')}"`;
}

/**
 * Not atomic, but safe to repeat. Every other state label goes, not only the one that counts now: one left behind would count
 * next, and an issue handed off would be worked on again.
 */
async function transition({ routes, settings }: Parts, id: string, target: string, signal: AbortSignal): Promise<void> {
  const { states } = settings;
  if (![states.active, states.terminal, states.parking].some((list) => list.includes(target))) {
    const detail = `${JSON.stringify(target)} is not a configured active, terminal or handoff state`;
    throw new TrackerError({ kind: 'tracker_payload_error', method: 'transition', path: id, detail });
  }
  const issue = await readIssue(routes, id, signal);
  for (const label of stateOf(issue, states).matches) {
    if (label !== target) await routes.removeLabel(id, label, signal);
  }
  await routes.addLabel(id, target, signal);
  const native = nativeState(issue);
  if (isTerminal(target, states) && native === 'open') {
    await routes.update(id, { state: 'closed', state_reason: 'completed' }, signal);
  } else if (states.active.includes(target) && native === 'closed') {
    await routes.update(id, { state: 'open' }, signal);
  }
}
