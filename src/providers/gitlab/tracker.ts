import type { Issue, IssueComment } from '../../domain/model/issue.ts';
import { normalState, stateIn } from '../../domain/model/issue.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { ProjectFacts, Tracker } from '../../ports/tracker.ts';
import { atInterval } from '../shared/failures.ts';
import type { DerivedState, LabelStateRule } from '../shared/label-state.ts';
import { createLastTold, type LastTold } from '../../lib/last-told.ts';
import { lastLabelling } from '../shared/person.ts';
import type { Tuning } from '../shared/settings.ts';
import { RETRY_DELAYS_MS } from '../shared/settings.ts';
import { createClient } from './client.ts';
import { type TrackerInputs, PAGE_SIZE } from './settings.ts';
import type { LabelCatalog } from './labels.ts';
import { createLabelCatalog, createLabelWriter, refuseComma, storedSpelling } from './labels.ts';
import { derivedState, stateRule, toComments, toIssue } from './map.ts';
import { preflight, readRights } from './preflight.ts';
import type { Project } from './routes.ts';
import { distinctIssues, isIssueNumber, issueRoute, openProject, readIssue, trackerError, updateIssue } from './routes.ts';
import { withFilter } from './query-filter.ts';
import type { WireIssue, WireIssueState } from './schema.ts';
import { CREATED_NOTE, ISSUE, ISSUE_STATE, NOTE, OWN_ACCOUNT } from './schema.ts';
import { isDeveloper } from './members.ts';
import { toLabelEvents } from './scm-map.ts';
import { LABEL_EVENT } from './scm-schema.ts';
import { KIND, readSettings } from './settings.ts';
import { planTransition, targetOf } from './transition.ts';

/** How many issues one state lookup names; more would make the address too long for some servers. */
const BATCH_SIZE = 50;

export function createTracker(
  settings: TrackerSettings,
  deps: ProviderDeps,
  { retryDelaysMs = RETRY_DELAYS_MS }: Tuning = {},
): Tracker {
  const context = openContext(settings, deps);
  const { project, catalog, inputs } = context;
  const hasStateLabels = context.rule.lists.flat().length > 0;
  const fetchStates: Tracker['fetchIssueStatesByIds'] = (ids, signal, closed) => fetchIssueStates(context, ids, signal, closed);
  let facts: ProjectFacts | null = null;
  return {
    kind: KIND,
    fetchCandidateIssues: (signal) => atInterval(fetchCandidateIssues(context, signal)),
    fetchIssueById: (id, signal) => fetchIssueById(context, id, signal),
    fetchIssuesByStates: (states, signal) => fetchIssuesByStates(context, states, signal),
    // The number is both the id and what people call the issue.
    fetchIssueStatesByIds: fetchStates,
    fetchIssueStatesByIdentifiers: fetchStates,
    fetchIssueComments: (id, signal) => fetchIssueComments(context, id, signal),
    transitionIssue: (id, state, signal) => transitionIssue(context, id, state, signal),
    commentIssue: (id, text, signal) => commentIssue(context, id, text, signal),
    obeysComments: true,
    labels: createLabelWriter(project, catalog),
    people: {
      // GitLab API, "Users API": the current user.
      readSelf: async (signal) => String((await project.http.getJson(OWN_ACCOUNT, { path: '/user' }, signal)).id),
      mayWrite: ({ id }, signal) => isDeveloper(project, id, signal),
    },
    readLabelling: async (id, label, signal) => {
      const path = `${issueRoute(project, id)}/resource_label_events`;
      // GitLab API, "Resource label events API": issues.
      const events = await project.http.getRecords(LABEL_EVENT, { path, query: { per_page: PAGE_SIZE } }, signal);
      return lastLabelling(eventsIn(events), label);
    },
    async preflight(signal) {
      const { filter } = inputs;
      facts = await preflight({ project, catalog, deps, hasStateLabels, filterLabels: filter.labels, retryDelaysMs }, signal);
    },
    describeProject: async () => facts,
    readRights: (signal) => readRights(project, signal),
  };
}

function eventsIn(wires: Parameters<typeof toLabelEvents>[0]) {
  const events = toLabelEvents(wires);
  return 'unreadable' in events ? [] : events;
}

/** What the operations share. */
interface Context {
  readonly inputs: TrackerInputs;
  readonly project: Project;
  readonly catalog: LabelCatalog;
  readonly rule: LabelStateRule;
  /** The state labels that were warned about, by issue number. */
  readonly ambiguous: LastTold<number>;
}

function openContext(settings: TrackerSettings, deps: ProviderDeps): Context {
  const inputs = readSettings(settings);
  const http = createClient(inputs.access, deps);
  const project = openProject(inputs.project, inputs.access.baseUrl, { http, logger: deps.logger });
  return { inputs, project, catalog: createLabelCatalog(project), rule: stateRule(inputs.states), ambiguous: createLastTold() };
}

/** Open issues of the type `issue`, oldest first. A label filter at the remote is an AND, states need an OR: they are told apart here. */
async function fetchCandidateIssues(context: Context, signal: AbortSignal): Promise<readonly Issue[]> {
  const issues = await listIssues(context, 'opened', signal);
  return issues.filter(({ state }) => stateIn(context.inputs.states.active, state));
}

async function fetchIssueById(context: Context, id: string, signal: AbortSignal): Promise<Issue> {
  const wire = await readIssue(context.project, id, signal);
  const comments = await fetchIssueComments(context, id, signal);
  return toIssue(wire, { derived: stateOf(context, wire), project: context.project.name, comments });
}

/** Both halves are read: a label decides before the native state, so an open issue may be done and a closed one active. */
async function fetchIssuesByStates(context: Context, states: readonly string[], signal: AbortSignal): Promise<readonly Issue[]> {
  if (states.every((state) => normalState(state) === '')) return [];
  const opened = await listIssues(context, 'opened', signal);
  const closed = await listIssues(context, 'closed', signal);
  // One that was closed between the two reads is in both; the later reading counts.
  const latest = new Map([...opened, ...closed].map((issue) => [issue.id, issue]));
  return [...latest.values()].filter(({ state }) => stateIn(states, state));
}

async function fetchIssueStates(
  context: Context,
  ids: readonly string[],
  signal: AbortSignal,
  closed?: Set<string>,
): Promise<ReadonlyMap<string, string>> {
  const { http, route } = context.project;
  const wanted = [...new Set(ids.filter(isIssueNumber))];
  const states = new Map<string, string>();
  for (let start = 0; start < wanted.length; start += BATCH_SIZE) {
    const batch = wanted.slice(start, start + BATCH_SIZE);
    const query = { 'iids[]': batch, state: 'all', scope: 'all', per_page: PAGE_SIZE };
    // GitLab API, "Issues API": by `iids[]`.
    const wires = await http.getRecords(ISSUE_STATE, { path: `${route}/issues`, query }, signal);
    for (const wire of distinctIssues(wires)) {
      const id = String(wire.iid);
      // A remote that ignores the filter answers with issues nobody asked for.
      if (!batch.includes(id)) continue;
      const { state, isClosed } = stateOf(context, wire);
      states.set(id, state);
      if (isClosed) closed?.add(id);
    }
  }
  return states;
}

async function fetchIssueComments({ project }: Context, id: string, signal: AbortSignal): Promise<readonly IssueComment[]> {
  const query = { activity_filter: 'only_comments', sort: 'asc', per_page: PAGE_SIZE };
  // GitLab API, "Notes API": issues.
  return toComments(await project.http.getRecords(NOTE, { path: `${issueRoute(project, id)}/notes`, query }, signal));
}

/** One read, and at most one write that carries everything, so that no half-done move can be seen. */
async function transitionIssue(context: Context, id: string, state: string, signal: AbortSignal): Promise<void> {
  const { project, inputs } = context;
  const route = issueRoute(project, id);
  const target = targetOf(state, inputs.states);
  if (!target) {
    const detail = `${JSON.stringify(state)} is not a configured active, terminal or handoff state`;
    throw trackerError(project, { kind: 'tracker_payload_error', method: 'PUT', path: route, detail });
  }
  refuseComma(project, target.state, route);
  const issue = await readIssue(project, id, signal);
  const label = await targetLabel(context, issue, target.state, signal);
  const body = planTransition(issue, { role: target.role, label }, inputs.states);
  if (body) await updateIssue(project, id, body, signal);
}

/** The catalogue's spelling; else the one the issue carries, which exists by that; else the configured one, to be created. */
async function targetLabel({ catalog }: Context, issue: WireIssue, state: string, signal: AbortSignal): Promise<string> {
  const names = (await catalog.recall(state, signal)) ?? [];
  return storedSpelling(names, state) ?? storedSpelling(issue.labels ?? [], state) ?? state;
}

async function commentIssue({ project }: Context, id: string, text: string, signal: AbortSignal): Promise<void> {
  const route = `${issueRoute(project, id)}/notes`;
  // GitLab API, "Notes API": creating one on an issue.
  const note = await project.http.sendJson('POST', CREATED_NOTE, { path: route, body: { body: text } }, signal);
  const commands = Object.keys(note.commands_changes ?? {}).join(', ');
  if (commands !== '') {
    // The keys only: the text may be anybody's.
    const facts = { tracker_kind: KIND, issue_identifier: id, commands };
    project.logger.warn('comment was taken for quick actions', facts);
  }
  if (note.id !== null && note.id !== undefined) return;
  const detail = `no comment was created: its text was consumed as quick actions${commands && ` (${commands})`}`;
  throw trackerError(project, { kind: 'tracker_payload_error', method: 'POST', path: route, detail });
}

async function listIssues(context: Context, state: 'opened' | 'closed', signal: AbortSignal): Promise<readonly Issue[]> {
  const { project, inputs } = context;
  const own = { state, issue_type: 'issue', scope: 'all', order_by: 'created_at', sort: 'asc', per_page: String(PAGE_SIZE) };
  // Closed issues are read for cleaning up after them, whatever the filter says of them by now.
  const query = withFilter(own, state === 'opened' ? inputs.filter : { pairs: [], labels: [] });
  // GitLab API, "Issues API": those of a project.
  const wires = await project.http.getRecords(ISSUE, { path: `${project.route}/issues`, query }, signal);
  return distinctIssues(wires).map((wire) => toIssue(wire, { derived: stateOf(context, wire), project: project.name }));
}

function stateOf({ rule, ambiguous, project }: Context, wire: WireIssueState): DerivedState {
  const derived = derivedState(wire, rule);
  const { state, matches } = derived;
  if (matches.length < 2) {
    ambiguous.forget(wire.iid);
    return derived;
  }
  const labels = matches.join(', ');
  if (ambiguous.isNews(wire.iid, labels)) {
    const facts = { tracker_kind: KIND, issue_identifier: String(wire.iid), labels, kept: state };
    project.logger.warn('issue carries several state labels, the first counts', facts);
  }
  return derived;
}
