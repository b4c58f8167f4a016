import { describe, expect, it, onTestFinished } from 'vitest';
import type { Event } from '../../domain/model/event.ts';
import type { Note } from '../../ports/store.ts';
import type { Postgres } from '../../store/postgres/index.ts';
import type { Work } from '../../store/records/work.ts';
import { followHints, passOn } from './shared-hints.ts';
import type { LeaderTerm } from './leading.ts';

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
    const term = { db, leadership: { epoch: 1 } } as unknown as LeaderTerm;
    const following = followHints(term, {
      report: (event: Event) => void order.push(event.type),
      notes: { addNotes: (notes) => Promise.resolve(void order.push(...notes)) },
      logger: SILENT,
    });
    await expect.poll(() => order, { timeout: 10_000 }).toEqual(['webhook-received', NOTE, 'dropped']);
    await following.stop();
  });
});

describe('a refresh that a standby is asked for', () => {
  function aDatabase() {
    const waiting: { kind: string }[] = [];
    const db = {
      read: () => Promise.resolve([...waiting]),
      write: () => Promise.resolve(void waiting.push({ kind: 'refresh' })),
    };
    const passedOn = passOn(db as unknown as Postgres, { clock: { now: () => 1 }, logger: SILENT });
    onTestFinished(passedOn.stop);
    return { waiting, passedOn };
  }

  it('is merged with one that the leader is yet to hear of', async () => {
    const { waiting, passedOn } = aDatabase();
    expect(await passedOn.refresh()).toBe(false);
    expect(await passedOn.refresh()).toBe(true);
    waiting.splice(0);
    expect(await passedOn.refresh()).toBe(false);
  });

  it('is not merged with a webhook', async () => {
    const { waiting, passedOn } = aDatabase();
    waiting.push({ kind: 'webhook' });
    expect(await passedOn.refresh()).toBe(false);
  });
});

it('what a standby took while the database was away is left when it answers again, once for each kind', async () => {
  const left: string[] = [];
  let isAway = true;
  const answer = <T>(work: () => T): Promise<T> => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(work()));
  const db = {
    read: () => answer(() => []),
    write: (work: Work<void>) => answer(() => void left.push(String(work.next().value?.values[0]))),
  };
  const passedOn = passOn(db as unknown as Postgres, { clock: { now: () => 1 }, logger: SILENT });
  onTestFinished(passedOn.stop);
  passedOn.webhook();
  passedOn.webhook();
  expect(await passedOn.refresh()).toBe(false);
  expect(await passedOn.refresh()).toBe(true);
  isAway = false;
  await expect.poll(() => left, { timeout: 10_000 }).toEqual(['webhook', 'refresh']);
  expect(await passedOn.refresh()).toBe(false);
  expect(left).toEqual(['webhook', 'refresh', 'refresh']);
});
