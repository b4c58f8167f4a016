import { describe, expect, it } from 'vitest';
import type { Event } from '../domain/model/event.ts';
import type { Note } from '../ports/store.ts';
import { followHints } from './shared-hints.ts';
import type { Reign } from './leading.ts';

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const NOTE: Note = { subject: 'delivery', at: 1, body: 'd1' };
const HINTS = [
  { id: 1, kind: 'webhook', body: '', at: 1 },
  { id: 2, kind: 'note', body: JSON.stringify(NOTE), at: 2 },
];

describe('hints of daemons that stand by', () => {
  it('are acted on before they are dropped, so that none is lost with the connection', async () => {
    const order: unknown[] = [];
    let waiting: readonly unknown[] = HINTS;
    const db = {
      read: () => Promise.resolve(waiting),
      writeUnder: () => {
        order.push('dropped');
        waiting = [];
        return Promise.reject(new Error('Connection terminated unexpectedly'));
      },
    };
    const reign = { db, leadership: { epoch: 1 } } as unknown as Reign;
    const following = followHints(reign, {
      report: (event: Event) => void order.push(event.type),
      notes: { addNotes: (notes) => Promise.resolve(void order.push(...notes)) },
      logger: SILENT,
    });
    await expect.poll(() => order, { timeout: 10_000 }).toEqual(['webhook-received', NOTE, 'dropped']);
    following.stop();
  });
});
