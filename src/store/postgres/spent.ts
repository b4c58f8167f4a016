import type { Spent } from '../../domain/model/run.ts';
import { SPENT } from '../records/spent.ts';
import { encode } from '../records/text.ts';
import { records, type Work } from '../records/work.ts';

const FIND = `SELECT * FROM spent WHERE tracker IN (?, '') AND issue_id = ANY (ARRAY(SELECT json_array_elements_text(?::json)))`;

/** What each of these issues has used up, in one round to the server however many they are. */
export function* findSpent(tracker: string, issueIds: readonly string[]): Work<readonly Spent[]> {
  if (issueIds.length === 0) return [];
  return yield* records(SPENT.read, FIND, tracker, JSON.stringify(issueIds.map(encode)));
}
