import { isDeepStrictEqual } from 'node:util';
import type { LoadedWorkflow } from '../../config/workflow.ts';
import { requireGood, type GoodWorkflow } from '../workflow.ts';

/**
 * The workflow file of a daemon that leads at times and stands by at others: its last good content, whoever of them read it.
 * That its tracker takes it shows only when it leads.
 */
export interface KeptWorkflow {
  current(): GoodWorkflow;
  /** What is to be tried by one that leads: the newest first, and last the one whose tracker was never in question. */
  toTry(): readonly GoodWorkflow[];
  /** Takes over what was read, unless it is broken. */
  take(read: LoadedWorkflow): void;
  /** It is in force: nothing before it is tried any more. */
  proved(good: GoodWorkflow): void;
}

export function keepWorkflow(first: GoodWorkflow): KeptWorkflow {
  let kept: readonly [GoodWorkflow, ...GoodWorkflow[]] = [first];
  return {
    current: () => kept[0],
    toTry: () => kept.map((one) => guardedAs(kept[0], one)),
    take(read) {
      if (read.settings === null) return;
      const edit = asStarted(requireGood(read), kept[0]);
      const others = kept.filter((one) => !isDeepStrictEqual(one.settings.tracker, edit.settings.tracker));
      kept = others.at(-1) === kept.at(-1) ? [edit, ...others] : [edit];
    },
    proved: (good) => void (kept = [good]),
  };
}

/** Who may come in, and what is hidden, is as the newest one says: a token that an edit took back does not hold again. */
function guardedAs({ settings: { server }, secretVariables }: GoodWorkflow, one: GoodWorkflow): GoodWorkflow {
  return { ...one, secretVariables, settings: { ...one.settings, server } };
}

/** The database and the log are those of the start. What agents may not see stays hidden from them. */
function asStarted(edit: GoodWorkflow, current: GoodWorkflow): GoodWorkflow {
  const { dbPath, storeUrl, logging } = current.settings;
  const secretVariables = [...new Set([...current.secretVariables, ...edit.secretVariables])];
  return { ...edit, secretVariables, settings: { ...edit.settings, dbPath, storeUrl, logging } };
}
