import { TrackerError } from '../../domain/model/errors.ts';
import type { Issue, IssueComment } from '../../domain/model/issue.ts';
import { normalState } from '../../domain/model/issue.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Tracker } from '../../ports/tracker.ts';
import { createLastTold, type LastTold } from '../../lib/last-told.ts';
import { atInterval } from '../shared/failures.ts';
import type { Tuning } from '../shared/settings.ts';
import { RETRY_DELAYS_MS } from '../shared/settings.ts';
import { createCandidateReader } from './candidates.ts';
import type { FetchPage, LinearClient } from './client.ts';
import { createClient } from './client.ts';
import { createLabelWriter } from './labels.ts';
import { byPriorityThenAge, toComments, toIssue, unresolvedReason } from './map.ts';
import {
  CREATE_COMMENT,
  FULL_PAGE,
  issueByIdOperation,
  issueCommentsOperation,
  issuesOperation,
  STATES_BY_IDS,
  STATES_BY_NUMBERS,
  UPDATE_ISSUE,
  VIEWER,
  WITH_PEOPLE,
  WITHOUT_PEOPLE,
  type PeopleFields,
} from './operations.ts';
import { preflight } from './preflight.ts';
import type { WireIssue } from './schema.ts';
import { COMMENT, ISSUE, ISSUE_STATE } from './schema.ts';
import type { TrackerInputs } from './settings.ts';
import { KIND, PAGE_SIZE, readSettings } from './settings.ts';
import type { Team, TeamReader } from './team.ts';
import { createTeamReader, unknownStates } from './team.ts';

export function createTracker(
  settings: TrackerSettings,
  deps: ProviderDeps,
  { retryDelaysMs = RETRY_DELAYS_MS }: Tuning = {},
): Tracker {
  const context = openContext(settings, deps);
  const { client, inputs, team } = context;
  return {
    kind: KIND,
    // A page of them takes six thousand points.
    finishedAreCostly: true,
    fetchCandidateIssues: async (signal) =>
      (await atInterval(fetchIssuesInStates(context, inputs.states.active, context.readCandidates, signal))).toSorted(
        byPriorityThenAge,
      ),
    fetchIssueById: (id, signal) => fetchIssueById(context, id, signal),
    fetchIssuesByStates: (states, signal) => fetchIssuesInStates(context, states, (readAll) => readAll(FULL_PAGE), signal),
    fetchIssueStatesByIds: (ids, signal) => fetchIssueStatesByIds(context, ids, signal),
    fetchIssueStatesByIdentifiers: (identifiers, signal) => fetchIssueStatesByIdentifiers(context, identifiers, signal),
    fetchIssueComments: (id, signal) => readComments(context, id, commentPages(context, id, signal)),
    transitionIssue: (id, state, signal) => transitionIssue(context, id, state, signal),
    commentIssue: async (id, text, signal) => {
      const input = { issueId: id, body: text };
      client.confirm('commentCreate', (await client.run(CREATE_COMMENT, { input }, signal)).commentCreate);
    },
    labels: createLabelWriter({ client, team, teamKey: inputs.teamKey }),
    people: { readSelf: async (signal) => (await client.run(VIEWER, {}, signal)).viewer.id },
    preflight: (signal) => preflight({ client, team, retryDelaysMs, deps }, signal),
    // An API key may be limited to reading, which no query tells.
    readRights: async () => ({ missing: [], untold: ['Write'] }),
  };
}

/** What the operations share. */
interface Context {
  readonly inputs: TrackerInputs;
  readonly client: LinearClient;
  /** What is asked for of those who wrote. */
  readonly people: PeopleFields;
  readonly team: TeamReader;
  readonly logger: Logger;
  /** Why an issue is held, by its id. */
  readonly held: LastTold<string>;
  readonly readCandidates: ReturnType<typeof createCandidateReader>;
}

function openContext(settings: TrackerSettings, deps: ProviderDeps): Context {
  const inputs = readSettings(settings);
  const client = createClient(inputs.access, deps);
  const { logger } = deps;
  const team = createTeamReader({ client, logger, teamKey: inputs.teamKey, states: inputs.states });
  const peopleMatter = settings.authors !== 'anyone' || settings.approvalLabel !== null;
  return {
    inputs,
    client,
    people: peopleMatter ? WITH_PEOPLE : WITHOUT_PEOPLE,
    team,
    logger,
    held: createLastTold(),
    readCandidates: createCandidateReader(client.pointsAreShort),
  };
}

/** Issues of the team in these states, narrowed by the filter. */
async function fetchIssuesInStates(
  context: Context,
  states: readonly string[],
  read: Context['readCandidates'],
  signal: AbortSignal,
): Promise<readonly Issue[]> {
  if (states.every((state) => normalState(state) === '')) return [];
  const { client, inputs } = context;
  const names = (await context.team.read(signal)).spellingsOf(states);
  if (names.length === 0) return [];
  const filter = { ...inputs.filter, team: { key: { eq: inputs.teamKey } }, state: { name: { in: names } } };
  const wires = await read((sizes) =>
    client.readAll('issues', ISSUE, async (after) => {
      const first = after === null ? sizes.issues : PAGE_SIZE;
      return (await client.run(issuesOperation(sizes, context.people), { filter, first, after }, signal)).issues;
    }),
  );
  // One that was touched while pages were read may be on two of them; the later reading counts.
  const latest = new Map(wires.map((wire) => [wire.id, wire]));
  return [...latest.values()].map((wire) => noted(context, wire));
}

async function fetchIssueById(context: Context, id: string, signal: AbortSignal): Promise<Issue> {
  const { client } = context;
  const { issue } = await client.run(issueByIdOperation(context.people), { id }, signal);
  if (!issue) throw missing(context, id);
  // Lists and state lookups leave it out, so that it is gone for all of them.
  if (issue.archivedAt || issue.trashed) throw missing(context, id, ', it is archived or in the trash');
  const laterPages = commentPages(context, id, signal);
  const comments = await readComments(context, id, async (after) => (after === null ? issue.comments : laterPages(after)));
  return noted(context, issue, comments);
}

/** The remote refuses a whole request for one id that is no UUID: those are asked for apart, and refused they are not found. */
async function fetchIssueStatesByIds(
  context: Context,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const { client } = context;
  const wanted = [...new Set(ids)].filter((id) => id.trim() !== '');
  const states = new Map<string, string>();
  const read = async (batch: readonly string[]): Promise<void> => {
    const wires = await client.readAll('issue states', ISSUE_STATE, async (after) => {
      return (await client.run(STATES_BY_IDS, { ids: batch, first: PAGE_SIZE, after }, signal)).issues;
    });
    const byId = new Map(wires.map((wire) => [wire.id.toLowerCase(), wire.state?.name ?? '']));
    for (const id of batch) setKnown(states, id, byId.get(id.toLowerCase()));
  };
  for (const batch of batches(wanted.filter((id) => UUID.test(id)))) await read(batch);
  for (const batch of batches(wanted.filter((id) => !UUID.test(id)))) await read(batch).catch(throwUnlessRefused);
  return states;
}

function throwUnlessRefused(error: unknown): void {
  if (!(error instanceof TrackerError && error.kind === 'tracker_payload_error')) throw error;
}

/** An identifier is the team's key and a number. Those of other teams are none of ours. */
async function fetchIssueStatesByIdentifiers(
  context: Context,
  identifiers: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const { client, inputs } = context;
  const { teamKey } = inputs;
  const numberOf = new Map([...new Set(identifiers)].map((identifier) => [identifier, issueNumber(identifier, teamKey)]));
  const numbers = [...new Set(numberOf.values())].filter((number) => number !== null);
  const states = new Map<string, string>();
  for (const batch of batches(numbers)) {
    const wires = await client.readAll('issue states', ISSUE_STATE, async (after) => {
      return (await client.run(STATES_BY_NUMBERS, { teamKey, numbers: batch, first: PAGE_SIZE, after }, signal)).issues;
    });
    const byNumber = new Map(wires.map((wire) => [wire.number, wire.state?.name ?? '']));
    for (const [identifier, number] of numberOf) setKnown(states, identifier, byNumber.get(number));
  }
  return states;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function issueNumber(identifier: string, teamKey: string): number | null {
  const [, key = '', digits = ''] = /^(.+)-([1-9]\d{0,14})$/.exec(identifier) ?? [];
  return key.toLowerCase() === teamKey.toLowerCase() ? Number(digits) : null;
}

function* batches<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < all.length; start += PAGE_SIZE) yield all.slice(start, start + PAGE_SIZE);
}

function setKnown(states: Map<string, string>, name: string, state: string | undefined): void {
  if (state !== undefined) states.set(name, state);
}

function commentPages(context: Context, id: string, signal: AbortSignal): FetchPage {
  return async (after) => {
    const { issue } = await context.client.run(issueCommentsOperation(context.people), { id, after }, signal);
    if (!issue) throw missing(context, id);
    return issue.comments;
  };
}

async function readComments({ client }: Context, id: string, fetchPage: FetchPage): Promise<readonly IssueComment[]> {
  return toComments(await client.readAll(`comments of ${id}`, COMMENT, fetchPage));
}

/** The remote has no transition graph: any state of the team can be set. Setting the state that is held changes nothing. */
async function transitionIssue({ client, team, inputs }: Context, id: string, state: string, signal: AbortSignal): Promise<void> {
  const idIn = (known: Team): string => {
    const target = known.stateNamed(state);
    if (!target) throw unknownStates(client, known, inputs.teamKey, [state]);
    return target.id;
  };
  const move = async (stateId: string): Promise<void> =>
    client.confirm('issueUpdate', (await client.run(UPDATE_ISSUE, { id, input: { stateId } }, signal)).issueUpdate);
  const remembered = idIn(await team.read(signal));
  try {
    await move(remembered);
  } catch (error) {
    if (!(error instanceof TrackerError && error.kind === 'tracker_not_found')) throw error;
    // The issue may be what is gone, or the state, which somebody may have made anew since the team was read.
    const now = await team.readAgain(state, signal).catch(() => null);
    if (now === null || idIn(now) === remembered) throw error;
    await move(idIn(now));
  }
}

/** Maps an issue. One whose blockers are not all known is held out of dispatch, which the operator is told once. */
function noted({ held, logger }: Context, wire: WireIssue, comments: readonly IssueComment[] | null = null): Issue {
  const reason = unresolvedReason(wire);
  if (reason === null) held.forget(wire.id);
  else if (held.isNews(wire.id, reason)) {
    const facts = { tracker_kind: KIND, issue_id: wire.id, issue_identifier: wire.identifier, reason };
    logger.warn('issue is held out of dispatch, its blockers are not resolved', facts);
  }
  return toIssue(wire, comments);
}

function missing({ client }: Context, id: string, why = ''): Error {
  return client.fault('tracker_not_found', `no issue ${id}${why}`);
}
