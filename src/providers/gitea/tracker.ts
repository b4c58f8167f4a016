import { z } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import type { Issue, IssueComment, Person } from '../../domain/model/issue.ts';
import { normalName, stateIn } from '../../domain/model/issue.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import { path } from '../../lib/http/index.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { LabelEvent } from '../../ports/scm.ts';
import type { BlockerReader, LabelWriter, ProjectFacts, Tracker } from '../../ports/tracker.ts';
import { whenMissing } from '../shared/failures.ts';
import type { TrackerHttp } from '../shared/http.ts';
import type { LabelStateRule } from '../shared/label-state.ts';
import type { Tuning } from '../shared/settings.ts';
import { RETRY_DELAYS_MS } from '../shared/settings.ts';
import { createBlockers } from './blockers.ts';
import { createClient, issuePath, pageReader } from './client.ts';
import type { Labels } from './labels.ts';
import { createLabels, labelFault, labelNamed, stillCarried } from './labels.ts';
import { byAge, isClosed, isPullRequest, stateOf, toComment, toIssue } from './map.ts';
import type { Notes } from './labels.ts';
import { createNotes } from './labels.ts';
import { preflight } from './preflight.ts';
import type { WireIssue } from './schema.ts';
import { COLLABORATION, COMMENT, ISSUE, USER } from './schema.ts';
import { toLabelEvent } from './scm-map.ts';
import { ENTRIES, LABEL_ENTRY } from './scm-schema.ts';
import type { PageReader } from '../shared/numbered-pages.ts';
import { readNumbered } from '../shared/numbered-pages.ts';
import { lastLabelling } from '../shared/person.ts';
import type { TrackerInputs } from './settings.ts';
import { filterLabels, KIND, PAGE_SIZE, readSettings, stateRuleOf } from './settings.ts';
import { transition } from './transition.ts';

export function createTracker(
  settings: TrackerSettings,
  deps: ProviderDeps,
  { retryDelaysMs = RETRY_DELAYS_MS }: Tuning = {},
): Tracker {
  const context = openContext(settings, deps);
  const { http, repository, states, rule, labels } = context;
  const readIssue = (id: string, signal: AbortSignal) => readOne(context, id, signal);
  const stateMap: Tracker['fetchIssueStatesByIds'] = (ids, signal, closed) => readStates(context, ids, signal, closed);
  let facts: ProjectFacts | null = null;
  return {
    kind: KIND,
    fetchCandidateIssues: (signal) => readCandidates(context, signal),
    fetchIssueById: (id, signal) => readWhole(context, id, signal),
    fetchIssuesByStates: (wanted, signal) => readByStates(context, wanted, signal),
    fetchIssueStatesByIds: stateMap,
    fetchIssueStatesByIdentifiers: stateMap,
    fetchIssueComments: async (id, signal) => {
      // The comment route also answers for pull requests, which are no issues here.
      await readIssue(id, signal);
      return readComments(context, id, signal);
    },
    transitionIssue: (id, state, signal) => transition({ http, repository, labels, states, rule, readIssue }, id, state, signal),
    movesInSteps: true,
    commentIssue: async (id, text, signal) => {
      // The answer is not decoded: a comment that was accepted must not be posted again for the sake of its echo.
      // Gitea API, "Add a comment to an issue".
      await http.send('POST', { path: `${issuePath(repository, id)}/comments`, body: { body: text } }, signal);
    },
    obeysComments: true,
    labels: labelWriter(context),
    blockers: context.blockers,
    people: {
      readSelf: async (signal) => (await http.getJson(USER, { path: '/user' }, signal)).login?.toLowerCase() ?? '',
      mayWrite: (person, signal) => mayWrite(context, person, signal),
    },
    readLabelling: async (id, label, signal) => lastLabelling(await labelEvents(context, id, signal), label),
    async preflight(signal) {
      const parts = { http, baseUrl: context.access.baseUrl, repository, deps, retryDelaysMs };
      facts = await preflight(parts, signal);
    },
    describeProject: async () => facts,
    // The remote has no route for it: reads were proven by the preflight and the labels, writes only show when they are tried.
    readRights: async (_signal, uses) => ({
      missing: [],
      untold: ['write:issue', ...(uses?.pushes || uses?.opensRequests ? ['write:repository'] : [])],
    }),
  };
}

/** The open issues in an active state, oldest first; what is odd about the rest is noted. */
async function readCandidates(context: Context, signal: AbortSignal): Promise<readonly Issue[]> {
  const { labels, notes, states } = context;
  const open = await readList(context, 'open', signal);
  notes.stateless(open.filter(({ state }) => state === '').length);
  await notes.missingLabels(labels, signal);
  return open.filter(({ state }) => stateIn(states.active, state)).toSorted(byAge);
}

/** An issue with its comments and what blocks it. */
async function readWhole(context: Context, id: string, signal: AbortSignal): Promise<Issue> {
  const wire = await readOne(context, id, signal);
  // A 404 here says that they cannot be read; the issue is there all the same.
  const blockedBy = await whenMissing(context.blockers.read(id, signal), null);
  return { ...toIssue(wire, context.rule), comments: await readComments(context, id, signal), blockedBy };
}

async function readComments({ http, repository }: Context, id: string, signal: AbortSignal): Promise<readonly IssueComment[]> {
  // Gitea API, "List all comments on an issue".
  const request = { path: `${issuePath(repository, id)}/comments` };
  const entries = await http.getJson(LIST, request, signal);
  return http.records(COMMENT, entries, request.path).map(toComment);
}

const LIST = z.array(z.unknown());

/** The permissions with which a user may push. */
const WRITERS: readonly string[] = ['owner', 'admin', 'write'];

// Gitea API, "Get repository permissions for a user". A user without any permission is answered too; 404 is for one who does not exist.
async function mayWrite({ http, repository }: Context, person: Person, signal: AbortSignal): Promise<boolean> {
  const { owner, repo } = repository;
  const route = path`/repos/${owner}/${repo}/collaborators/${person.names[0] ?? person.id}/permission`;
  const found = await whenMissing(http.getJson(COLLABORATION, { path: route }, signal), null);
  return WRITERS.includes(found?.permission ?? '');
}

/** What happened to the labels of an issue, oldest first, as far as it can be read. */
async function labelEvents(
  { http, reader, repository }: Context,
  id: string,
  signal: AbortSignal,
): Promise<readonly LabelEvent[]> {
  const route = `${issuePath(repository, id)}/timeline`;
  const entries = await readNumbered(reader, { path: route, entries: (answer) => http.decode('GET', ENTRIES, answer) }, signal);
  const labelled = entries.filter((entry) => LABEL_KIND.safeParse(entry).success);
  return http.records(LABEL_ENTRY, labelled, route).flatMap((entry) => toLabelEvent(entry, '') ?? []);
}

const LABEL_KIND = z.object({ type: z.literal('label') });

/** Everything the operations share. */
interface Context extends TrackerInputs {
  readonly http: TrackerHttp;
  readonly reader: PageReader;
  readonly rule: LabelStateRule;
  readonly labels: Labels;
  readonly blockers: BlockerReader;
  readonly notes: Notes;
}

function openContext(settings: TrackerSettings, deps: ProviderDeps): Context {
  const inputs = readSettings(settings);
  const { states, filter } = inputs;
  const http = createClient(inputs.access, deps);
  const reader = pageReader(http, deps);
  const labels = createLabels(reader, inputs.repository);
  const rule = stateRuleOf(states);
  const blockers = createBlockers({ reader, repository: inputs.repository, rule, clock: deps.clock });
  // The label of the in-progress state is made by the first move to it.
  const expected = states.active.filter((state) => !stateIn([settings.inProgressState ?? ''], state));
  const noted = { project: settings.project, activeStates: expected, filterLabels: filterLabels(filter) };
  return { ...inputs, http, reader, rule, labels, blockers, notes: createNotes(noted, deps.logger) };
}

/** One half of the repository's issues. The filter narrows the open half only, so that cleanup sees every closed issue. */
async function readList(context: Context, half: 'open' | 'closed', signal: AbortSignal): Promise<readonly Issue[]> {
  const { owner, repo } = context.repository;
  const query = new URLSearchParams({ state: half, type: 'issues', limit: String(PAGE_SIZE) });
  if (half === 'open') for (const [key, value] of context.filter) query.append(key, value);
  // Gitea API, "List a repository's issues".
  const wires = await context.http.getRecords(ISSUE, { path: path`/repos/${owner}/${repo}/issues`, query }, signal);
  const listed = wires.filter((wire) => wire.number > 0 && !isPullRequest(wire));
  // One that moved on to the next page between two reads is in both: the later reading counts.
  const issues = [...new Map(listed.map((wire) => [wire.number, wire])).values()];
  if (half === 'open') context.notes.filtered(issues);
  return issues.map((wire) => noted(context, wire));
}

/** Maps an issue; several state labels on an open one are worth a warning. */
function noted({ rule, notes }: Context, wire: WireIssue): Issue {
  if (!isClosed(wire)) notes.severalStates(wire, stateOf(wire, rule).matches);
  return toIssue(wire, rule);
}

// Closed issues count as active for no purpose, so the closed half is read for the other states only. The open half may hold
// finished issues too: those that carry the label of a terminal state.
async function readByStates(context: Context, wanted: readonly string[], signal: AbortSignal): Promise<readonly Issue[]> {
  const known = wanted.filter((state) => context.rule.lists.some((list) => stateIn(list, state)));
  if (known.length === 0) return [];
  const open = await readList(context, 'open', signal);
  const closed = known.every((state) => stateIn(context.states.active, state)) ? [] : await readList(context, 'closed', signal);
  // An issue that was closed between the two reads is in both: the later reading counts.
  const byId = new Map([...open, ...closed].map((issue) => [issue.id, issue]));
  return [...byId.values()].filter(({ state }) => stateIn(known, state)).toSorted(byAge);
}

async function readOne(context: Context, id: string, signal: AbortSignal): Promise<WireIssue> {
  const route = issuePath(context.repository, id);
  // Gitea API, "Get an issue".
  const wire = await context.http.getJson(ISSUE, { path: route }, signal);
  if (!isPullRequest(wire)) return wire;
  throw new TrackerError({
    kind: 'tracker_not_found',
    method: 'GET',
    path: route,
    detail: `${id} is a pull request, not an issue`,
  });
}

/** The remote has no batch read: one request per issue, in turn. */
async function readStates(
  context: Context,
  ids: readonly string[],
  signal: AbortSignal,
  closed?: Set<string>,
): Promise<ReadonlyMap<string, string>> {
  const states = new Map<string, string>();
  for (const id of new Set(ids)) {
    const wire = await whenMissing(readOne(context, id, signal), null);
    if (!wire) continue;
    const issue = noted(context, wire);
    states.set(id, issue.state);
    if (issue.isClosed) closed?.add(id);
  }
  return states;
}

function labelWriter(context: Context): LabelWriter {
  const { labels, repository } = context;
  const carried = async (id: string, name: string, signal: AbortSignal) =>
    (await readOne(context, id, signal)).labels.filter((label) => labelNamed(name, [label]));
  return {
    add: async (id, label, signal) => {
      const name = normalName(label.trim());
      if (name === '') throw labelFault(repository, id, 'POST', 'a label needs a name');
      await labels.attach(id, name, signal);
    },
    remove: async (id, label, signal) => {
      const found = await carried(id, label, signal);
      if (found.length === 0) return;
      await labels.detach(id, found, signal);
      if ((await carried(id, label, signal)).length > 0) throw stillCarried(repository, id, label);
    },
  };
}
