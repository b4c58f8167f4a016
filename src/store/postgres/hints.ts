import { all, run, type Work } from '../records/work.ts';

/** Something that a daemon which stands by was told: a webhook came, a poll is wished for, a delivery must be remembered. */
export interface Hint {
  readonly kind: 'webhook' | 'refresh' | 'note';
  /** Of a note: its subject and what it says. */
  readonly body: string;
  readonly at: number;
}

export interface WaitingHint extends Hint {
  readonly id: number;
}

/** Where nobody leads for a while, no more than these wait: further ones would say the same. */
const MAX_WAITING = 1_000;

/** Leaves a hint for whoever leads, or will. */
export function* leaveHint({ kind, body, at }: Hint): Work<void> {
  const sql = `INSERT INTO hints (kind, body, at) SELECT ?, ?, ? WHERE (SELECT count(*) FROM hints) < ${MAX_WAITING}`;
  yield* run(sql, kind, body, at);
}

/** All that wait, in their order. They stay until they were acted on. */
export function* readHints(): Work<readonly WaitingHint[]> {
  const rows = yield* all('SELECT id, kind, body, at FROM hints ORDER BY id');
  return rows.map(({ id, kind, body, at }) => ({
    id: Number(id),
    kind: kindOf(String(kind)),
    body: String(body),
    at: Number(at),
  }));
}

export function* dropHints(hints: readonly WaitingHint[]): Work<void> {
  for (const { id } of hints) yield* run('DELETE FROM hints WHERE id = ?', id);
}

/** A daemon of another version may have left what this one does not know: a poll is never wrong. */
function kindOf(kind: string): Hint['kind'] {
  return kind === 'webhook' || kind === 'note' ? kind : 'refresh';
}
