import { ScmConflictError, TrackerError } from '../../src/domain/model/errors.ts';
import { answerAlways, TOKEN } from './answers.ts';
import { oneOrAll } from './target.ts';

/** Why a wait that a remote asked for is not waited out. */
const ENOUGH = new Error('it was told to wait');
/** A message quotes what a remote said, not all of it. */
const LONGEST_MESSAGE = 4_096;

/** What an adapter is built with for one use of it. */
export interface Station {
  readonly deps: ReturnType<typeof depsOf>;
  readonly signal: AbortSignal;
}

function depsOf(log: (...parts: readonly unknown[]) => void, wait: () => void) {
  const meter = { made: () => {}, left: () => {}, dated: () => {} };
  return {
    version: 'fuzz',
    workflowDir: '.',
    clock: { now: () => 0 },
    // What is said for information is said of a wait.
    logger: { debug: log, info: (...parts: readonly unknown[]) => (log(...parts), wait()), warn: log, error: log },
    meter,
    tellRetry: wait,
  };
}

/** One call of an adapter; throws when what it gives back is not what its type says. */
export type Use = () => Promise<void>;

/** Gives the answers of the input to one of the uses of an adapter that was never used before. */
export async function useRemote(input: string, thorough: boolean, usesOf: (station: Station) => readonly Use[]): Promise<void> {
  const first = stationOf();
  const uses = usesOf(first);
  for (const [turn, at] of oneOrAll([...uses.keys()], input, thorough).entries()) {
    const station = turn === 0 ? first : stationOf();
    const use = (turn === 0 ? uses : usesOf(station))[at];
    const restore = await answerAlways(input);
    try {
      if (use) await checked(use);
    } finally {
      restore();
    }
    if (JSON.stringify(station.shown).includes(TOKEN)) throw new TypeError('a record shows the token');
  }
}

/** With the records that were written. */
function stationOf(): Station & { readonly shown: readonly unknown[] } {
  const controller = new AbortController();
  const shown: unknown[] = [];
  const deps = depsOf(
    (...parts) => void shown.push(parts),
    () => controller.abort(ENOUGH),
  );
  return { deps, signal: controller.signal, shown };
}

/** Either what the types say, or an error of ours that shows no token and is no longer than people read. */
async function checked(use: Use): Promise<void> {
  try {
    await use();
  } catch (error) {
    const fault = error === ENOUGH ? null : faultOf(error);
    if (fault !== null) throw new TypeError(fault, { cause: error });
  }
}

function faultOf(error: unknown): string | null {
  if (!(error instanceof TrackerError) && !(error instanceof ScmConflictError)) return `it threw ${String(error)}`;
  const { message } = error;
  if (message.includes(TOKEN)) return `a message shows the token: ${message}`;
  if (message.length > LONGEST_MESSAGE) return `a message of ${message.length} characters`;
  return error instanceof TrackerError && !isWait(error.retryAfterMs) ? `a wait of ${error.retryAfterMs} ms` : null;
}

function isWait(ms: number | undefined): boolean {
  return ms === undefined || (Number.isFinite(ms) && ms >= 0);
}
