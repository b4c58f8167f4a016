import type { FoundRecord, SourceProblem, SourceReading } from './records.ts';
import { nonEmptyText, REQUIRED_FIELDS } from './schema.ts';

/** A record that has all it needs. */
export interface Entry {
  readonly id: string;
  readonly identifier: string;
  readonly title: string;
  readonly state: string;
  readonly record: Readonly<Record<string, unknown>>;
}

/** All issues of one reading. */
export interface IssueBoard {
  /** In the order of the source. */
  entries(): readonly Entry[];
  find(id: string): Entry | undefined;
  findByIdentifier(identifier: string): Entry | undefined;
  /** Also of records that lack something else; '' without a state. */
  stateOf(id: string): string | undefined;
  stateOfIdentifier(identifier: string): string | undefined;
  readonly unreadable: readonly SourceProblem[];
  readonly badRecords: readonly BadRecord[];
  /** The same for a later reading, by what changed alone; null where that is more than what issues say of themselves. */
  after(later: SourceReading): IssueBoard | null;
}

/** A record that cannot be worked with; its id where it has one. */
export interface BadRecord extends SourceProblem {
  readonly id: string;
  readonly place: number;
}

/** Sorts out what can be worked with. A bad record costs itself only; of two with one name the first one counts. */
export function createBoard(reading: SourceReading): IssueBoard {
  const names = noNames();
  const all: Entry[] = [];
  const badRecords: BadRecord[] = [];
  for (const [place, found] of reading.records.entries()) {
    const entry = entryOf(found.value);
    all.push(entry);
    const fault = missingIn(entry) ?? takenIn(names, entry);
    if (fault === null) {
      names.good.ids.set(entry.id, place);
      names.good.identifiers.set(entry.identifier, place);
      continue;
    }
    badRecords.push(badRecord(found, entry.id, place, fault));
    noteIfFirst(names, 'ids', entry.id, place);
    noteIfFirst(names, 'identifiers', entry.identifier, place);
  }
  return boardOf({ reading, all, names, badRecords });
}

interface Places {
  readonly ids: Map<string, number>;
  readonly identifiers: Map<string, number>;
}

/** Where the records with a name are: those that can be worked with, and others that have the name first. */
interface Names {
  readonly good: Places;
  readonly bad: Places;
}

function noNames(): Names {
  return { good: { ids: new Map(), identifiers: new Map() }, bad: { ids: new Map(), identifiers: new Map() } };
}

function noteIfFirst({ good, bad }: Names, which: keyof Places, name: string, place: number): void {
  if (name !== '' && !good[which].has(name) && !bad[which].has(name)) bad[which].set(name, place);
}

function badRecord(found: FoundRecord, id: string, place: number, fault: string): BadRecord {
  return { id, place, key: `${found.label}: ${fault}`, text: () => `${found.place()}: ${fault}` };
}

interface BoardParts {
  readonly reading: SourceReading;
  /** Of every record, also of bad ones. */
  readonly all: readonly Entry[];
  readonly names: Names;
  readonly badRecords: readonly BadRecord[];
}

function boardOf(parts: BoardParts): IssueBoard {
  const { reading, all, names, badRecords } = parts;
  const { good, bad } = names;
  const at = (place: number | undefined): Entry | undefined => (place === undefined ? undefined : all[place]);
  const badPlaces = new Set(badRecords.map(({ place }) => place));
  return {
    entries: () => (badPlaces.size === 0 ? all : all.filter((_, place) => !badPlaces.has(place))),
    find: (id) => at(good.ids.get(id)),
    findByIdentifier: (identifier) => at(good.identifiers.get(identifier)),
    stateOf: (id) => at(bad.ids.get(id) ?? good.ids.get(id))?.state,
    stateOfIdentifier: (identifier) => at(bad.identifiers.get(identifier) ?? good.identifiers.get(identifier))?.state,
    unreadable: reading.unreadable,
    badRecords,
    after(later) {
      const next = entriesAfter(parts, later, badPlaces);
      return next && boardOf({ ...parts, reading: later, all: next });
    },
  };
}

/** The entries of a later reading, where each record that changed is good as before and has the names it had. */
function entriesAfter({ reading, all }: BoardParts, later: SourceReading, bad: ReadonlySet<number>): Entry[] | null {
  const [before, now] = [reading.records, later.records];
  if (before.length !== now.length) return null;
  const next = all.slice();
  for (let place = 0; place < now.length; place += 1) {
    if (now[place] === before[place]) continue;
    const [old, entry] = [all[place], entryOf(now[place]?.value)];
    if (bad.has(place) || entry.id !== old?.id || entry.identifier !== old.identifier || missingIn(entry) !== null) return null;
    next[place] = entry;
  }
  return next;
}

/** What the record tells of itself; '' where it tells nothing. */
function entryOf(value: unknown): Entry {
  const record = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  const { id, identifier, title, state } = record;
  return {
    id: nonEmptyText(id) ?? '',
    identifier: nonEmptyText(identifier) ?? '',
    title: nonEmptyText(title) ?? '',
    state: nonEmptyText(state) ?? '',
    record,
  };
}

function missingIn(entry: Entry): string | null {
  const missing = REQUIRED_FIELDS.filter((key) => entry[key] === '');
  return missing.length === 0 ? null : `${missing.join(', ')}: must be a non-empty text`;
}

/** Two issues with one identifier would share a workspace. */
function takenIn({ good }: Names, entry: Entry): string | null {
  if (good.ids.has(entry.id)) return `id "${entry.id}" is taken by an earlier record`;
  return good.identifiers.has(entry.identifier) ? `identifier "${entry.identifier}" is taken by an earlier record` : null;
}
