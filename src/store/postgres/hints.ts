import { all, run, type Work } from '../records/work.ts';

/** Something that a daemon which stands by was told: a webhook came, a poll is wished for, a delivery must be remembered. */
export interface Hint {
  readonly kind: 'webhook' | 'refresh' | 'note';
  /** Of a note: its subject and what it says. */
  readonly body: string;
  readonly at: number;
}

/** Where nobody leads for a while, no more than these wait: further ones would say the same. */
const MAX_WAITING = 1_000;

/** Leaves a hint for whoever leads, or will. */
export function* leaveHint({ kind, body, at }: Hint): Work<void> {
  const sql = `INSERT INTO hints (kind, body, at) SELECT ?, ?, ? WHERE (SELECT count(*) FROM hints) < ${MAX_WAITING}`;
  yield* run(sql, kind, body, at);
}

export function* areHintsWaiting(): Work<boolean> {
  return (yield* all('SELECT 1 AS one FROM hints LIMIT 1')).length > 0;
}

/** Takes all that wait, in their order. */
export function* takeHints(): Work<readonly Hint[]> {
  const rows = yield* all('DELETE FROM hints RETURNING id, kind, body, at');
  return rows
    .toSorted((a, b) => Number(a.id) - Number(b.id))
    .map(({ kind, body, at }) => ({ kind: kindOf(String(kind)), body: String(body), at: Number(at) }));
}

/** A daemon of another version may have left what this one does not know: a poll is never wrong. */
function kindOf(kind: string): Hint['kind'] {
  return kind === 'webhook' || kind === 'note' ? kind : 'refresh';
}
