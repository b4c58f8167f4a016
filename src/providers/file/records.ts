import type { Logger } from '../../ports/runtime.ts';
import type { TimedEdit } from './edit.ts';
import { nonEmptyText, REQUIRED_FIELDS } from './schema.ts';

/** Something wrong with the source, told for an operator. */
export interface SourceProblem {
  /** The same for the same problem, also when lines above it were added. */
  readonly key: string;
  /** With its place. Costs something: only for a message. */
  text(): string;
}

/** A record as it was found. */
export interface FoundRecord {
  readonly value: unknown;
  /** Its number or file. */
  readonly label: string;
  /** The same with line and column. */
  place(): string;
}

/** What one read of the source found. The same object comes again while nothing changed. */
export interface SourceReading {
  readonly records: readonly FoundRecord[];
  /** Files that could not be read as an issue. One of them may be any issue that is missing. */
  readonly unreadable: readonly SourceProblem[];
}

/** Where issues are kept. Others change it at any time. */
export interface IssueSource {
  read(): Promise<SourceReading>;
  /**
   * The record with this id as it is now, by its own file alone. Null where that cannot tell: all records are in one file,
   * or the last reading knew the id in none, or it is no longer in that one.
   */
  find(id: string): Promise<FoundRecord | null>;
  /** Makes the edits for good, in their order. Tells of each what stood in its way, or null; a missing record is `tracker_not_found`. */
  change(edits: readonly SourceEdit[]): Promise<readonly (Error | null)[]>;
}

/** An edit and the id of the record it is for. */
export interface SourceEdit {
  readonly id: string;
  readonly edit: TimedEdit;
}

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
  readonly entries: readonly Entry[];
  readonly byId: ReadonlyMap<string, Entry>;
  readonly byIdentifier: ReadonlyMap<string, Entry>;
  /** States by id and by identifier, also of records that lack something else; '' without a state. */
  readonly stateById: ReadonlyMap<string, string>;
  readonly stateByIdentifier: ReadonlyMap<string, string>;
  readonly unreadable: readonly SourceProblem[];
  readonly badRecords: readonly BadRecord[];
}

/** A record that cannot be worked with; its id where it has one. */
export interface BadRecord extends SourceProblem {
  readonly id: string;
}

/** Sorts out what can be worked with. A bad record costs itself only; of two with one name the first one counts. */
export function createBoard({ records, unreadable }: SourceReading): IssueBoard {
  const byId = new Map<string, Entry>();
  const byIdentifier = new Map<string, Entry>();
  const stateById = new Map<string, string>();
  const stateByIdentifier = new Map<string, string>();
  const badRecords: BadRecord[] = [];

  for (const found of records) {
    const entry = entryOf(found.value);
    const { id, identifier, state } = entry;
    const fault = missingIn(entry) ?? takenIn(byId, byIdentifier, entry);
    if (fault === null) {
      byId.set(id, entry);
      byIdentifier.set(identifier, entry);
    } else {
      badRecords.push({ id, key: `${found.label}: ${fault}`, text: () => `${found.place()}: ${fault}` });
    }
    if (id !== '' && !stateById.has(id)) stateById.set(id, state);
    if (identifier !== '' && !stateByIdentifier.has(identifier)) stateByIdentifier.set(identifier, state);
  }
  return { entries: [...byId.values()], byId, byIdentifier, stateById, stateByIdentifier, unreadable, badRecords };
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
function takenIn(byId: ReadonlyMap<string, Entry>, byIdentifier: ReadonlyMap<string, Entry>, entry: Entry): string | null {
  if (byId.has(entry.id)) return `id "${entry.id}" is taken by an earlier record`;
  return byIdentifier.has(entry.identifier) ? `identifier "${entry.identifier}" is taken by an earlier record` : null;
}

export interface Mapped<T> {
  readonly value: T;
  /** Fields that do not fit, told for an operator. */
  readonly problems: readonly string[];
}

export interface Reporter {
  /** Warns of records that are left out, of each problem once. */
  records(problems: readonly SourceProblem[]): void;
  /** Warns of fields that are left out, of each problem once, and hands on the rest. */
  fields<T>(mapped: Mapped<T>): T;
}

/** A file that is wrong throughout must not flood the log. */
const MOST_AT_ONCE = 20;
const MOST_REMEMBERED = 10_000;

/** The source is read at every poll; what is wrong with it is told when it is seen for the first time. */
export function createReporter(path: string, logger: Logger): Reporter {
  const told = new Set<string>();

  function isNew(key: string): boolean {
    if (told.has(key)) return false;
    if (told.size >= MOST_REMEMBERED) told.clear();
    told.add(key);
    return true;
  }

  return {
    records(problems) {
      const fresh = problems.filter(({ key }) => isNew(key));
      for (const problem of fresh.slice(0, MOST_AT_ONCE)) logger.warn('issue record ignored', { path, reason: problem.text() });
      const more = fresh.length - MOST_AT_ONCE;
      if (more > 0) logger.warn('more issue records ignored', { path, count: more });
    },
    fields({ value, problems }) {
      for (const reason of problems.filter(isNew)) logger.warn('issue field ignored', { path, reason });
      return value;
    },
  };
}
