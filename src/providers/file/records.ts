import type { BigIntStats } from 'node:fs';
import type { Logger } from '../../ports/runtime.ts';
import { createIsNew } from '../shared/warn-once.ts';
import type { TimedEdit } from './edit.ts';

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
  /**
   * How many bytes are written whichever record is changed: those of all, or none where each has a file of its own. As the
   * last call found it.
   */
  sharedBytes(): number;
  /** Makes the edits for good, in their order. Tells of each what stood in its way, or null; a missing record is `tracker_not_found`. */
  change(edits: readonly SourceEdit[]): Promise<readonly (Error | null)[]>;
}

/** The same as one form of files has it. It is told what is at the place now. */
export interface IssueForm extends Omit<IssueSource, 'read' | 'sharedBytes'> {
  read(stats: BigIntStats): Promise<SourceReading>;
}

/** An edit and the id of the record it is for. */
export interface SourceEdit {
  readonly id: string;
  readonly edit: TimedEdit;
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
  const isNew = createIsNew(MOST_REMEMBERED);
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
