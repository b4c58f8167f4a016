import type { Logger } from '../../ports/runtime.ts';
import type { SourceProblem } from './board.ts';
import type { Mapped } from './map.ts';

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
