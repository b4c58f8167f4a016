import { z } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import type { Issue } from '../../domain/model/issue.ts';
import { stateIn } from '../../domain/model/issue.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import { path } from '../../lib/http/index.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { LabelWriter, Tracker } from '../../ports/tracker.ts';
import { whenMissing } from '../shared/failures.ts';
import type { TrackerHttp } from '../shared/http.ts';
import type { LabelStateRule } from '../shared/label-state.ts';
import { createGiteaClient, issuePath } from './client.ts';
import type { Labels } from './labels.ts';
import { createLabels, labelNamed } from './labels.ts';
import { byAge, isClosed, isPullRequest, stateOf, toBlocker, toComment, toIssue } from './map.ts';
import type { Notes } from './notes.ts';
import { createNotes } from './notes.ts';
import { preflight } from './preflight.ts';
import type { WireIssue } from './schema.ts';
import { COMMENT, ISSUE, ISSUES } from './schema.ts';
import type { Connection, QueryEntries, Repository } from './settings.ts';
import { connectionOf, filterLabels, filterOf, KIND, PAGE_SIZE, stateRuleOf, statesOf } from './settings.ts';
import { transition } from './transition.ts';

interface Tuning {
  /** Waits between the tries of the preflight. */
  readonly retryDelaysMs?: readonly number[];
}

export function createGiteaTracker(
  settings: TrackerSettings,
  deps: ProviderDeps,
  { retryDelaysMs = [1000, 2000, 4000] }: Tuning = {},
): Tracker {
  const desk = openDesk(settings, deps);
  const { http, repository, states, rule, labels } = desk;
  const readIssue = (id: string, signal: AbortSignal) => readOne(desk, id, signal);
  const stateMap = (ids: readonly string[], signal: AbortSignal) => readStates(desk, ids, signal);
  const blockers = async (id: string, signal: AbortSignal) => {
    const request = { path: `${issuePath(repository, id)}/dependencies`, query: { limit: PAGE_SIZE } };
    // Decoded as a whole: a blocker that cannot be read must hold the issue, not vanish.
    return (await http.getPages(ISSUES, request, signal)).flat().map((wire) => toBlocker(wire, rule, repository));
  };
  const comments = async (id: string, signal: AbortSignal) => {
    const request = { path: `${issuePath(repository, id)}/comments` };
    const entries = await http.getJson(LIST, request, signal);
    return http.records(COMMENT, entries, request.path).map(toComment);
  };

  return {
    kind: KIND,
    fetchCandidateIssues: async (signal) => {
      const open = await readList(desk, 'open', signal);
      desk.notes.stateless(open.filter(({ state }) => state === '').length);
      await desk.notes.missingLabels(labels, signal);
      return open.filter(({ state }) => stateIn(states.active, state)).toSorted(byAge);
    },
    fetchIssueById: async (id, signal) => {
      const wire = await readIssue(id, signal);
      // A repository with dependencies switched off answers 404: then they are unknown, and the issue is there all the same.
      const blockedBy = await whenMissing(blockers(id, signal), null);
      return { ...toIssue(wire, rule), comments: await comments(id, signal), blockedBy };
    },
    fetchIssuesByStates: (wanted, signal) => readByStates(desk, wanted, signal),
    fetchIssueStatesByIds: stateMap,
    fetchIssueStatesByIdentifiers: stateMap,
    fetchIssueComments: async (id, signal) => {
      // The comment route also answers for pull requests, which are no issues here.
      await readIssue(id, signal);
      return comments(id, signal);
    },
    transitionIssue: (id, state, signal) => transition({ http, repository, labels, states, rule, readIssue }, id, state, signal),
    commentIssue: async (id, text, signal) => {
      // The answer is not decoded: a comment that was accepted must not be posted again for the sake of its echo.
      await http.send('POST', { path: `${issuePath(repository, id)}/comments`, body: { body: text } }, signal);
    },
    labels: labelWriter(desk),
    blockers: { read: blockers },
    preflight: (signal) => preflight({ http, baseUrl: desk.baseUrl, repository, logger: deps.logger, retryDelaysMs }, signal),
  };
}

const LIST = z.array(z.unknown());

/** Everything the operations share. */
interface Desk extends Connection {
  readonly http: TrackerHttp;
  readonly repository: Repository;
  readonly states: ReturnType<typeof statesOf>;
  readonly rule: LabelStateRule;
  readonly filter: QueryEntries;
  readonly labels: Labels;
  readonly notes: Notes;
}

function openDesk(settings: TrackerSettings, deps: ProviderDeps): Desk {
  const connection = connectionOf(settings);
  const states = statesOf(settings);
  const filter = filterOf(settings.queryFilter);
  const http = createGiteaClient(connection, deps);
  const labels = createLabels(http, connection.repository);
  const noted = { project: settings.project, activeStates: states.active, filterLabels: filterLabels(filter) };
  return { ...connection, http, states, rule: stateRuleOf(states), filter, labels, notes: createNotes(noted, deps.logger) };
}

/** One half of the repository's issues. The filter narrows the open half only, so that cleanup sees every closed issue. */
async function readList(desk: Desk, half: 'open' | 'closed', signal: AbortSignal): Promise<readonly Issue[]> {
  const { owner, repo } = desk.repository;
  const query = new URLSearchParams({ state: half, type: 'issues', limit: String(PAGE_SIZE) });
  if (half === 'open') for (const [key, value] of desk.filter) query.append(key, value);
  const wires = await desk.http.getRecords(ISSUE, { path: path`/repos/${owner}/${repo}/issues`, query }, signal);
  return wires.filter((wire) => wire.number > 0 && !isPullRequest(wire)).map((wire) => noted(desk, wire));
}

/** Maps an issue; several state labels on an open one are worth a warning. */
function noted({ rule, notes }: Desk, wire: WireIssue): Issue {
  if (!isClosed(wire)) notes.severalStates(wire, stateOf(wire, rule).matches);
  return toIssue(wire, rule);
}

// Closed issues count as active for no purpose, so the closed half is read for the other states only. The open half may hold
// finished issues too: those that carry the label of a terminal state.
async function readByStates(desk: Desk, wanted: readonly string[], signal: AbortSignal): Promise<readonly Issue[]> {
  const known = wanted.filter((state) => desk.rule.lists.some((list) => stateIn(list, state)));
  if (known.length === 0) return [];
  const open = await readList(desk, 'open', signal);
  const closed = known.every((state) => stateIn(desk.states.active, state)) ? [] : await readList(desk, 'closed', signal);
  // An issue that was closed between the two reads is in both: the later reading counts.
  const byId = new Map([...open, ...closed].map((issue) => [issue.id, issue]));
  return [...byId.values()].filter(({ state }) => stateIn(known, state)).toSorted(byAge);
}

async function readOne(desk: Desk, id: string, signal: AbortSignal): Promise<WireIssue> {
  const route = issuePath(desk.repository, id);
  const wire = await desk.http.getJson(ISSUE, { path: route }, signal);
  if (!isPullRequest(wire)) return wire;
  throw new TrackerError({
    kind: 'tracker_not_found',
    method: 'GET',
    path: route,
    detail: `${id} is a pull request, not an issue`,
  });
}

/** The remote has no batch read: one request per issue, in turn. */
async function readStates(desk: Desk, ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const states = new Map<string, string>();
  for (const id of new Set(ids)) {
    const wire = await whenMissing(readOne(desk, id, signal), null);
    if (wire) states.set(id, noted(desk, wire).state);
  }
  return states;
}

function labelWriter(desk: Desk): LabelWriter {
  const { labels, repository } = desk;
  const carried = async (id: string, name: string, signal: AbortSignal) =>
    (await readOne(desk, id, signal)).labels.filter((label) => labelNamed(name, [label]));
  return {
    add: async (id, label, signal) => {
      const name = label.trim().toLowerCase();
      if (name === '') throw labelFault(repository, id, 'POST', 'a label needs a name');
      await labels.attach(id, name, signal);
    },
    remove: async (id, label, signal) => {
      const found = await carried(id, label, signal);
      if (found.length === 0) return;
      await labels.detach(id, found, signal);
      if ((await carried(id, label, signal)).length === 0) return;
      throw labelFault(
        repository,
        id,
        'DELETE',
        `the label ${JSON.stringify(label)} was removed but issue ${id} still carries it`,
      );
    },
  };
}

function labelFault(repository: Repository, id: string, method: string, detail: string): TrackerError {
  return new TrackerError({ kind: 'tracker_payload_error', method, path: `${issuePath(repository, id)}/labels`, detail });
}
