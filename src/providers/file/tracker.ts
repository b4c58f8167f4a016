import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { sameState, stateIn } from '../../domain/model/issue.ts';
import type { Issue } from '../../domain/model/issue.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { Tracker } from '../../ports/tracker.ts';
import { createBoard } from './issue-board.ts';
import type { Entry, IssueBoard } from './issue-board.ts';
import type { IssueSource, SourceReading } from './records.ts';
import { asTrackerErrors, isUnreadable, notFound, payloadError, unreadable } from './failures.ts';
import { toComments, toIssue } from './map.ts';
import { createReporter } from './records.ts';
import { KIND, locationOf, realLocationOf } from './settings.ts';
import { shareReads } from './shared-read.ts';
import { createSource } from './source.ts';
import { createWriteQueue } from './write-queue.ts';

/** Who our comments are from. */
const AUTHOR = 'foray';

const MOST_LOOKS = 3;
const PAUSE_MS = 50;

/**
 * Issues in local files. Every call reads them anew; writes take turns. A link is followed once: the place it leads to is
 * whose issues these are, and runs end there. Where it leads elsewhere later, nothing new is begun.
 */
export function createTracker(settings: TrackerSettings, deps: ProviderDeps): Tracker {
  const location = locationOf(settings.options, deps.workflowDir);
  const real = realLocationOf(settings.options, deps.workflowDir);
  const source = createSource(real, deps.mayWrite);
  const checkPlace = (): void => {
    const now = realLocationOf(settings.options, deps.workflowDir);
    if (now !== real)
      throw payloadError('READ', location, `it led to ${real} and leads to ${now} now: restart the service to work there`);
  };
  return {
    kind: KIND,
    isLocal: true,
    ...createReads(settings, { location, source, checkPlace, deps }),
    ...createWrites(settings, { location, source, checkPlace, deps }),
  };
}

interface Context {
  readonly location: string;
  readonly source: IssueSource;
  readonly checkPlace: () => void;
  readonly deps: ProviderDeps;
}

type Writes = Pick<Tracker, 'transitionIssue' | 'commentIssue' | 'labels'>;

function createReads(
  settings: TrackerSettings,
  { location, source, checkPlace, deps }: Context,
): Omit<Tracker, 'kind' | keyof Writes> {
  const report = createReporter(location, deps.logger);
  let last: { readonly reading: SourceReading; readonly board: IssueBoard } | null = null;
  const readBoard = shareReads(async () => {
    const reading = await source.read();
    const board = last?.reading === reading ? last.board : (last?.board.after(reading) ?? (await boardOf(reading)));
    last = { reading, board };
    report.records([...board.unreadable, ...board.badRecords]);
    return board;
  });

  const reading = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
    asTrackerErrors('READ', location, signal, () => lookingAgain(work, signal));

  function read<T>(signal: AbortSignal, use: (board: IssueBoard) => T | Promise<T>): Promise<T> {
    return reading(signal, async () => use(await readBoard(signal)));
  }

  /** The same for one issue: its own file is enough, unless it tells of others or is no longer what it was. */
  function readOne<T>(id: string, signal: AbortSignal, use: (board: IssueBoard) => T): Promise<T> {
    return reading(signal, async () => {
      const known = last?.board.find(id);
      const found = known && (await source.find(id));
      const board = found && createBoard({ records: [found], unreadable: [] });
      const entry = board?.find(id);
      const isEnough = entry !== undefined && entry.identifier === known?.identifier && !namesOthers(entry);
      return use(board && isEnough ? board : await readBoard(signal));
    });
  }

  function issuesIn(states: readonly string[], signal: AbortSignal): Promise<readonly Issue[]> {
    return read(signal, (board) => {
      const chosen = board.entries().filter((entry) => stateIn(states, entry.state));
      return mapInSlices(chosen, (entry) => report.fields(toIssue(entry, board)), signal);
    });
  }

  return {
    async fetchCandidateIssues(signal) {
      checkPlace();
      return issuesIn(settings.activeStates, signal);
    },
    fetchIssueById: (id, signal) =>
      readOne(id, signal, (board) => {
        const entry = entryOf(board, id, location);
        return { ...report.fields(toIssue(entry, board)), comments: report.fields(toComments(entry)) };
      }),
    fetchIssuesByStates: async (states, signal) => (states.length === 0 ? [] : issuesIn(states, signal)),
    fetchIssueStatesByIds: (ids, signal, _closed, unknown) => {
      const states = (board: IssueBoard): Map<string, string> => statesOf(ids, board.stateOf, { board, location, unknown });
      return ids.length === 1 ? readOne(ids[0] ?? '', signal, states) : read(signal, states);
    },
    fetchIssueStatesByIdentifiers: (identifiers, signal) =>
      read(signal, (board) => statesOf(identifiers, board.stateOfIdentifier, { board, location })),
    people: { readSelf: () => Promise.resolve(AUTHOR) },
    fetchIssueComments: (id, signal) => readOne(id, signal, (board) => report.fields(toComments(entryOf(board, id, location)))),
  };
}

/** A text that cannot be read is looked at again a few times: whoever saves it takes milliseconds. */
async function lookingAgain<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let looks = 1; ; looks += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isUnreadable(error) || looks === MOST_LOOKS) throw error;
      await delay(PAUSE_MS, undefined, { signal });
    }
  }
}

function createWrites(settings: TrackerSettings, { location, source, deps }: Context): Writes {
  const now = (): string => new Date(deps.clock.now()).toISOString();
  const change = createWriteQueue(source, location, now);

  async function changeLabel(type: 'add_label' | 'remove_label', id: string, label: string, signal: AbortSignal): Promise<void> {
    if (label.trim() === '') throw payloadError('WRITE', location, 'a label needs a name');
    await change(id, { type, label: label.trim() }, signal);
  }

  return {
    async transitionIssue(id, state, signal) {
      if (state.trim() === '') throw payloadError('WRITE', location, 'a state needs a name');
      await change(id, { type: 'state', state: spellingOf(state, settings) }, signal);
    },
    commentIssue: (id, text, signal) =>
      change(
        id,
        { type: 'comment', comment: { id: randomUUID(), author: AUTHOR, body: wellFormed(text), created_at: now() } },
        signal,
      ),
    labels: {
      add: (id, label, signal) => changeLabel('add_label', id, label, signal),
      remove: (id, label, signal) => changeLabel('remove_label', id, label, signal),
    },
  };
}

/** The other records tell the names and states of these. */
function namesOthers({ record }: Entry): boolean {
  return (record['parent'] ?? record['blocked_by'] ?? null) !== null;
}

/** Apart from the parsing, so that neither keeps others waiting for long. */
async function boardOf(reading: SourceReading): Promise<IssueBoard> {
  await nextTurn();
  return createBoard(reading);
}

/** An issue that is there but cannot be used is not missing; and while some file cannot be read, nobody knows. */
function entryOf(board: IssueBoard, id: string, location: string): Entry {
  const entry = board.find(id);
  if (entry !== undefined) return entry;
  const bad = board.badRecords.find((record) => record.id === id);
  if (bad !== undefined) throw payloadError('READ', location, bad.text());
  const [fault] = board.unreadable;
  throw fault === undefined ? notFound('READ', location, id) : unreadable('READ', location, fault.text());
}

/** The same of several: what was read counts. */
function statesOf(
  names: readonly string[],
  stateOf: (name: string) => string | undefined,
  { board, location, unknown }: { readonly board: IssueBoard; readonly location: string; readonly unknown?: Set<string> },
): Map<string, string> {
  const [fault] = board.unreadable;
  const found = new Map<string, string>();
  for (const name of names) {
    const state = stateOf(name);
    if (state !== undefined) found.set(name, state);
    else if (fault !== undefined && unknown === undefined) throw unreadable('READ', location, fault.text());
    else if (fault !== undefined) unknown?.add(name);
  }
  return found;
}

/** A text that was cut inside of a character has no form in a file. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

/** A state is stored as the workflow file spells it. */
function spellingOf(state: string, settings: TrackerSettings): string {
  const { activeStates, terminalStates, handoffState, inProgressState, noChangeState } = settings;
  const configured = [...activeStates, ...terminalStates, handoffState, inProgressState, noChangeState];
  return configured.find((name) => name !== null && sameState(name, state))?.trim() ?? state.trim();
}

/** Longer than this in one go, and requests that wait for an answer would feel it. */
const SLICE_MS = 8;

/** Maps a long list and lets other work in between. */
async function mapInSlices<In, Out>(items: readonly In[], map: (item: In) => Out, signal: AbortSignal): Promise<Out[]> {
  const results: Out[] = [];
  let resumedAt = performance.now();
  for (const item of items) {
    results.push(map(item));
    if (performance.now() - resumedAt <= SLICE_MS) continue;
    await nextTurn();
    signal.throwIfAborted();
    resumedAt = performance.now();
  }
  return results;
}
