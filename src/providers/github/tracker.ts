import { TrackerError } from '../../domain/model/errors.ts';
import { type Blocker, type Issue, normalState, sameState } from '../../domain/model/issue.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Tracker } from '../../ports/tracker.ts';
import { createLastTold } from '../../lib/last-told.ts';
import { lastLabelling } from '../shared/person.ts';
import { RETRY_DELAYS_MS, type Tuning } from '../shared/settings.ts';
import { readOwnLogin } from './account.ts';
import { createClient } from './client.ts';
import { createGraphClient } from './graphql.ts';
import {
  isPullRequest,
  toBlocker,
  toComment,
  toIssue,
  toParent,
  nativeState,
  repositoryOf,
  sameRepository,
  stateOf,
} from './map.ts';
import { describeProject, preflight } from './preflight.ts';
import { readRights } from './rights.ts';
import { createRoutes, issuePath, searchTerm, type Routes } from './routes.ts';
import type { WireIssue } from './schema.ts';
import { KIND, names, readSettings, type TrackerInputs, type StateNames } from './settings.ts';

/** Issues of one repository, whose states are labels. Makes no request. */
export function createTracker(
  settings: TrackerSettings,
  deps: ProviderDeps,
  { retryDelaysMs = RETRY_DELAYS_MS }: Tuning = {},
): Tracker {
  const inputs = readSettings(settings);
  const { logger } = deps;
  const http = createClient(inputs.access, deps);
  const graphql = createGraphClient(inputs.access, deps);
  const routes = createRoutes(http, inputs.repository, logger);
  const context: Context = { inputs, routes, logger, mapped: issueReader(inputs, logger) };
  const lookUp: Tracker['fetchIssueStatesByIds'] = (ids, signal, closed) => currentStates(context, ids, signal, closed);
  return {
    kind: KIND,
    // They are searched for, thirty times a minute at most.
    finishedAreCostly: true,
    fetchCandidateIssues: (signal) => candidates(context, signal),
    fetchIssueById: (id, signal) => fullIssue(context, id, signal),
    fetchIssuesByStates: (states, signal) => issuesByStates(context, names(states), signal),
    fetchIssueStatesByIds: lookUp,
    fetchIssueStatesByIdentifiers: lookUp,
    fetchIssueComments: async (id, signal) => (await routes.comments(id, signal)).map(toComment),
    transitionIssue: (id, state, signal) => transition(context, id, normalState(state), signal),
    commentIssue: (id, text, signal) => routes.addComment(id, text, signal),
    obeysComments: true,
    labels: { add: routes.addLabel, remove: routes.removeLabel },
    blockers: { read: (id, signal) => blockers(context, id, signal) },
    people: { readSelf: async (signal) => (await readOwnLogin(http, graphql, signal)).toLowerCase() },
    readLabelling: async (id, label, signal) => lastLabelling(await routes.labelEvents(id, signal), label),
    describeProject: (signal) => describeProject(context, signal),
    readRights: (signal, uses) => readRights(http, inputs.repository, signal, uses),
    provesByPoll: true,
    preflight: (signal, options = {}) =>
      preflight({ probe: (cut) => routes.probe(candidateQuery(inputs), cut), retryDelaysMs, deps }, options, signal),
  };
}

/** What the operations share. */
interface Context {
  readonly inputs: TrackerInputs;
  readonly routes: Routes;
  readonly logger: Logger;
  readonly mapped: (issue: WireIssue) => Issue;
}

async function candidates({ inputs, routes, mapped }: Context, signal: AbortSignal): Promise<readonly Issue[]> {
  const query = candidateQuery(inputs);
  const read = query === null ? await routes.listOpen(signal) : await routes.search(query, signal);
  const own = read.filter((issue) => nativeState(issue) === 'open' && isOwn(issue, inputs));
  return distinct(own, mapped).filter(({ state }) => inputs.states.active.includes(state));
}

// Searches have a small quota of their own, so that there is one only where a filter asks for it.
function candidateQuery({ queryFilter }: TrackerInputs): string | null {
  return queryFilter === '' ? null : `state:open ${queryFilter}`;
}

// One after the other, as the remote asks of its clients.
async function fullIssue(context: Context, id: string, signal: AbortSignal): Promise<Issue> {
  const { routes, mapped } = context;
  const issue = mapped(await readIssue(context, id, signal));
  const blockedBy = await blockers(context, id, signal);
  const parent = await routes.parent(id, signal);
  const comments = await routes.comments(id, signal);
  return { ...issue, blockedBy, parent: parent && toParent(parent), comments: comments.map(toComment) };
}

async function blockers({ routes, inputs }: Context, id: string, signal: AbortSignal): Promise<readonly Blocker[]> {
  return (await routes.blockedBy(id, signal)).map((blocker) => toBlocker(blocker, inputs));
}

// The filter narrows what is worked on, not what counts as finished.
async function issuesByStates(context: Context, wanted: readonly string[], signal: AbortSignal): Promise<readonly Issue[]> {
  const { routes, inputs, mapped } = context;
  const read: WireIssue[] = [];
  if (wanted.some((state) => !isTerminal(state, inputs.states))) read.push(...(await routes.listOpen(signal)));
  for (const state of wanted.filter((one) => isTerminal(one, inputs.states))) {
    read.push(...(await routes.search(`state:closed label:${searchTerm(state)}`, signal)));
  }
  return distinct(read, mapped).filter(({ state }) => wanted.includes(state));
}

async function currentStates(
  context: Context,
  ids: readonly string[],
  signal: AbortSignal,
  closed?: Set<string>,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const id of new Set(ids)) {
    const issue = await whenGone(readIssue(context, id, signal));
    if (!issue) continue;
    const { state, isClosed } = stateOf(issue, context.inputs.states);
    found.set(id, state);
    if (isClosed) closed?.add(id);
  }
  return found;
}

/** Maps an issue, and says once when its labels name several states. A page that did not change gives the same records again. */
function issueReader({ repository, states }: TrackerInputs, logger: Logger): (issue: WireIssue) => Issue {
  const reported = createLastTold<string>();
  const known = new WeakMap<WireIssue, Issue>();
  return (wire) => {
    const before = known.get(wire);
    if (before) return before;
    const derived = stateOf(wire, states);
    const issue = toIssue(wire, { repository, states }, derived);
    known.set(wire, issue);
    const { matches } = derived;
    if (matches.length < 2) reported.forget(issue.id);
    else if (reported.isNews(issue.id, matches.join(' '))) {
      const facts = { issue_id: issue.id, issue_identifier: issue.identifier, state: issue.state, labels: matches.join(', ') };
      logger.warn('issue carries several state labels, the first is kept', facts);
    }
    return issue;
  };
}

/** The issues among the entries, each once: a list that changes while its pages are read repeats some. */
function distinct(read: readonly WireIssue[], mapped: (issue: WireIssue) => Issue): Issue[] {
  const byNumber = new Map<number, WireIssue>();
  for (const issue of read) if (!isPullRequest(issue)) byNumber.set(issue.number, issue);
  return [...byNumber.values()].map(mapped);
}

// An OR in the filter undoes the search's own qualifiers, and a number of another repository would mean another issue here.
function isOwn(issue: WireIssue, { repository, queryFilter }: TrackerInputs): boolean {
  const home = /\bOR\b/i.test(queryFilter) ? repositoryOf(issue) : undefined;
  return home === undefined || sameRepository(home, repository);
}

/** One issue that is an issue, under its own number. */
async function readIssue({ routes, inputs }: Context, id: string, signal: AbortSignal): Promise<WireIssue> {
  const issue = await routes.issue(id, signal);
  const { owner, repo } = inputs.repository;
  const notFound = (detail: string): TrackerError =>
    new TrackerError({ kind: 'tracker_not_found', method: 'GET', path: issuePath(owner, repo, id), detail });
  if (isPullRequest(issue)) throw notFound('this number is a pull request');
  // A transferred issue redirects to its new place, where it may have the same number.
  const home = repositoryOf(issue);
  const isElsewhere = home !== undefined && !sameRepository(home, inputs.repository) && !(await isNewName(routes, home, signal));
  if (isElsewhere || String(issue.number) !== id)
    throw notFound(`the issue was moved and is now ${issue.html_url || issue.number}`);
  return issue;
}

/** Whether the repository is called so by now. Where that cannot be read, the remote is believed. */
async function isNewName(
  routes: Context['routes'],
  { owner, repo }: TrackerInputs['repository'],
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const { full_name: name } = await routes.repository(signal);
    return name === '' || name.toLowerCase() === `${owner}/${repo}`.toLowerCase();
  } catch (error) {
    if (error instanceof TrackerError) return true;
    throw error;
  }
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

/**
 * Not atomic, but safe to repeat. Every other state label goes, not only the one that counts now: one left behind would count
 * next, and an issue handed off would be worked on again.
 */
async function transition(context: Context, id: string, target: string, signal: AbortSignal): Promise<void> {
  const { routes, inputs } = context;
  const { states, repository } = inputs;
  if (![states.active, states.terminal, states.parking].some((list) => list.includes(target))) {
    const detail = `${JSON.stringify(target)} is not a configured active, terminal or handoff state`;
    const route = `${issuePath(repository.owner, repository.repo, id)}/labels`;
    throw new TrackerError({ kind: 'tracker_payload_error', method: 'POST', path: route, detail });
  }
  const issue = await readIssue(context, id, signal);
  const others = stateOf(issue, states).matches.filter((label) => label !== target);
  const carried = issue.labels.filter((label) => others.some((other) => sameState(label, other)));
  // The remote does not take two spellings of one letter for the same, but any case.
  for (const label of new Set(carried.map((name) => name.toLowerCase()))) await routes.removeLabel(id, label, signal);
  await routes.addLabel(id, target, signal);
  const native = nativeState(issue);
  if (isTerminal(target, states) && native === 'open') {
    await routes.update(id, { state: 'closed', state_reason: 'completed' }, signal);
  } else if (states.active.includes(target) && native === 'closed') {
    await routes.update(id, { state: 'open' }, signal);
  }
}
