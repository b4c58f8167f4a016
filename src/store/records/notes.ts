import type { Note, NoteQuery } from '../../ports/store.ts';
import { all, run as runSql, type Work } from './work.ts';

const ADD = 'INSERT INTO notes (subject, noted_at, place, body) VALUES (?, ?, ?, ?)';
const CLEAR = 'DELETE FROM notes WHERE subject = ?';
const NEWEST = 'SELECT * FROM notes WHERE subject = ? AND noted_at >= ? ORDER BY noted_at DESC, place DESC LIMIT ?';

/** Notes of one moment keep the order they were given in. */
export function* addNotes(notes: readonly Note[]): Work<void> {
  for (const [place, { subject, at, body, isOnly }] of notes.entries()) {
    if (isOnly) yield* runSql(CLEAR, subject);
    yield* runSql(ADD, subject, at, place, body);
  }
}

/** The newest, oldest first. */
export function* listNotes({ subject, since = 0, limit }: NoteQuery): Work<readonly Note[]> {
  const rows = yield* all(NEWEST, subject, since, limit);
  return rows.map((row) => ({ subject: String(row.subject), at: Number(row.noted_at), body: String(row.body) })).toReversed();
}
