import { UNPRICED } from './runs.ts';
import { all, run, type Work } from './work.ts';

/** In one statement, so that none takes long, whatever the records hold. */
const AT_ONCE = 20;
const NOTES = 'DELETE FROM notes WHERE rowid IN (SELECT rowid FROM notes WHERE noted_at < ? LIMIT ?) RETURNING rowid';
const OLD_RUNS = 'SELECT id FROM runs WHERE ended_at < ? ORDER BY ended_at LIMIT ?';
const EVENTS =
  'DELETE FROM run_events WHERE seq IN (SELECT seq FROM run_events WHERE run_id = ? ORDER BY seq LIMIT ?) RETURNING seq';
const ADD_TO_FORGOTTEN = `
  UPDATE forgotten_runs AS sums SET runs = sums.runs + 1, input_tokens = sums.input_tokens + run.input_tokens,
    output_tokens = sums.output_tokens + run.output_tokens, total_tokens = sums.total_tokens + run.total_tokens,
    cache_read_tokens = sums.cache_read_tokens + run.cache_read_tokens,
    seconds = sums.seconds + (run.ended_at - run.started_at) / 1000, cost_usd = sums.cost_usd + coalesce(run.cost_usd, 0),
    unpriced_runs = sums.unpriced_runs + run.unpriced
  FROM (SELECT runs.*, CASE WHEN ${UNPRICED} THEN 1 ELSE 0 END AS unpriced FROM runs WHERE id = ?) AS run`;

/**
 * Deletes notes, and finished runs with their events, the oldest first, until so many records are gone or it may not go
 * on; the sums of the runs stay. A run may have thousands of events: it goes when they are gone. Returns whether it
 * stopped before the end.
 */
export function* forgetHistory(before: number, limit: number, mayGoOn: () => boolean = () => true): Work<boolean> {
  let left = limit;
  // Something goes every time, however slow the disk is.
  const isOver = () => left <= 0 || (left < limit && !mayGoOn());
  const remove = function* (sql: string, of: number | string): Work<'all gone' | 'some left'> {
    while (!isOver()) {
      const wanted = Math.min(left, AT_ONCE);
      const gone = (yield* all(sql, of, wanted)).length;
      left -= gone;
      if (gone < wanted) return 'all gone';
    }
    return 'some left';
  };
  if ((yield* remove(NOTES, before)) === 'some left') return true;
  while (!isOver()) {
    const runs = yield* all(OLD_RUNS, before, AT_ONCE);
    for (const { id } of runs) {
      if ((yield* remove(EVENTS, String(id))) === 'some left') return true;
      yield* forgetRun(String(id));
      left -= 1;
    }
    if (runs.length < AT_ONCE) return false;
  }
  return true;
}

function* forgetRun(id: string): Work<void> {
  yield* run(ADD_TO_FORGOTTEN, id);
  yield* run('DELETE FROM run_event_sums WHERE run_id = ?', id);
  yield* run('DELETE FROM runs WHERE id = ?', id);
}
