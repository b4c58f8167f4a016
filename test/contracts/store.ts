import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Parked } from '../../src/domain/model/claim.ts';
import type { IssueRef } from '../../src/domain/model/issue.ts';
import type { OperatorPause } from '../../src/domain/model/operator.ts';
import type { Run, RunEvent } from '../../src/domain/model/run.ts';
import { NOTHING_DURABLE, STATISTICS_BY } from '../../src/ports/store.ts';
import type { Durable, Store, Write } from '../../src/ports/store.ts';
import { statisticsOf } from '../support/store/memory.ts';
import { anyHistory, anyWrite } from './store-records.ts';

/** A store under test and what surrounds it. */
export interface StoreHarness {
  readonly store: Store;
  /** Closes the store and opens another one on what it left. */
  reopen(): Promise<Store>;
  cleanup(): Promise<void>;
}

/** As many as show a mistake nearly every time; fewer where each takes a database of its own on a server. */
const HISTORIES = 60;

/** What every store keeps, whatever it is made of. */
export function storeContract(name: string, open: () => Promise<StoreHarness>, histories = HISTORIES): void {
  describe(`${name} keeps the store contract`, () => {
    const place: { harness: StoreHarness } = { harness: undefined as never };
    beforeEach(async () => {
      place.harness = await open();
    });
    afterEach(() => place.harness.cleanup());

    describe('durable records', () => {
      durableContract(open, () => place.harness, histories);
    });
    describe('history', () => {
      historyContract(() => place.harness);
    });
    describe('events of a run', () => {
      eventsContract(() => place.harness);
    });
    describe('requests of operators', () => {
      operatorContract(() => place.harness);
    });
  });
}

function durableContract(open: () => Promise<StoreHarness>, harness: () => StoreHarness, histories: number): void {
  it('is empty at first', async () => {
    expect(await harness().store.load(TRACKER)).toEqual(NOTHING_DURABLE);
    expect(await harness().store.listRuns({ limit: 10 })).toEqual([]);
    expect(await harness().store.totals()).toEqual(NO_TOTALS);
  });

  it('loads what any history of units of work left, also after it was closed', async () => {
    const property = fc.asyncProperty(anyHistory, async (history) => {
      const fresh = await open();
      try {
        for (const writes of history) await fresh.store.apply(TRACKER, writes);
        expect(inKeyOrder(await fresh.store.load(TRACKER))).toEqual(inKeyOrder(modelOf(history.flat())));
        const reopened = await fresh.reopen();
        expect(inKeyOrder(await reopened.load(TRACKER))).toEqual(inKeyOrder(modelOf(history.flat())));
        await expectRuns(reopened, history.flat());
      } finally {
        await fresh.cleanup();
      }
    });
    await fc.assert(property, { numRuns: histories });
  });

  it('applies nothing of a unit of work in which a write fails', async () => {
    const before = { write: 'park', parked: parkedIssue('1') } as const;
    await harness().store.apply(TRACKER, [before]);
    const property = fc.asyncProperty(fc.array(anyWrite, { maxLength: 5 }), async (writes) => {
      await expect(harness().store.apply(TRACKER, [...writes, { write: 'nonsense' } as unknown as Write])).rejects.toThrow(
        'nonsense',
      );
      expect(await harness().store.load(TRACKER)).toEqual(modelOf([before]));
    });
    await fc.assert(property, { numRuns: 20 });
  });

  it('takes an empty unit of work', async () => {
    await harness().store.apply(TRACKER, []);
    expect(await harness().store.load(TRACKER)).toEqual(NOTHING_DURABLE);
  });

  it('hands the outbox back in the order in which entries came', async () => {
    const ids = ['b', 'c', 'a'];
    const entries = ids.map((id) => ({
      id,
      issue: issue('1'),
      write: { kind: 'label', label: id } as const,
      tries: 0,
      dueAt: 5,
    }));
    await harness().store.apply(
      TRACKER,
      entries.map((entry) => ({ write: 'outbox', entry })),
    );
    await harness().store.apply(TRACKER, [{ write: 'outbox', entry: { ...entries[0]!, tries: 1 } }]);
    const { outbox } = await (await harness().reopen()).load(TRACKER);
    expect(outbox.map((entry) => `${entry.id}${entry.tries}`)).toEqual(['b1', 'c0', 'a0']);
  });

  it('tells what issues have used up, of few or many', async () => {
    const { store } = harness();
    const spent = Array.from({ length: 150 }, (_, index) => ({ issueId: `${index}`, sessions: 1, tokens: index, costUsd: 0.5 }));
    await store.apply(
      TRACKER,
      spent.map((one) => ({ write: 'spent', spent: one })),
    );
    const ids = Array.from({ length: 250 }, (_, index) => `${index}`);
    const found = await store.spentOn(TRACKER, ids);
    expect(found.toSorted((a, b) => a.tokens - b.tokens)).toEqual(spent);
    expect(await store.spentOn(TRACKER, ['7'])).toEqual([spent[7]]);
    expect(await store.spentOn(TRACKER, [])).toEqual([]);
    expect(await store.spentOn('other', ids)).toEqual([]);
  });

  it('keeps the records of two trackers apart, also where their issues have the same id', async () => {
    const { store } = harness();
    const others = (identity: string) => store.enter({ identity, configured: identity, label: `label of ${identity}` });
    const outbox = { id: 'o', issue: issue('1'), write: { kind: 'label', label: 'l' }, tries: 0, dueAt: 5 } as const;
    expect(await others(TRACKER)).toEqual([]);
    await store.apply(TRACKER, [
      { write: 'park', parked: parkedIssue('1') },
      { write: 'outbox', entry: outbox },
      { write: 'spent', spent: { issueId: '1', sessions: 1, tokens: 2, costUsd: 3 } },
      { write: 'run', run: aRun('a', 1) },
      { write: 'pause', pause: { agentKind: 'mock', until: 9, reason: 'limit' } },
      { write: 'told', told: { subject: 'pause', what: 'lunch' } },
    ]);
    expect(await others('other')).toEqual([
      { identity: TRACKER, label: `label of ${TRACKER}`, claims: 0, retries: 0, parked: 1, outbox: 1, watches: 0, workspaces: 0 },
    ]);
    const pauses = [{ agentKind: 'mock', until: 9, reason: 'limit' }];
    expect(await store.load('other')).toEqual({ ...NOTHING_DURABLE, pauses, told: [{ subject: 'pause', what: 'lunch' }] });
    await store.apply('other', [
      { write: 'park', parked: { ...parkedIssue('1'), detail: 'of the other' } },
      { write: 'unpark', issueId: '1' },
      { write: 'outbox-done', id: 'o' },
      { write: 'interrupt-runs', at: 5 },
      { write: 'run', run: aRun('b', 2) },
    ]);
    expect(await store.load(TRACKER)).toMatchObject({ parked: [parkedIssue('1')], outbox: [outbox], spent: [{ tokens: 2 }] });
    expect(await store.listRuns({ tracker: TRACKER, limit: 5 })).toEqual([aRun('a', 1)]);
    expect(await store.listRuns({ limit: 5 })).toHaveLength(2);
    expect(await others(TRACKER)).toEqual([]);
  });

  it('answers a ping', async () => {
    await expect(harness().store.ping()).resolves.toBeUndefined();
  });
}

function historyContract(harness: () => StoreHarness): void {
  const write = (...runs: Run[]) =>
    harness().store.apply(
      TRACKER,
      runs.map((run) => ({ write: 'run', run })),
    );
  const list = async (query: Parameters<Store['listRuns']>[0]) => (await harness().store.listRuns(query)).map((run) => run.id);

  it('lists runs newest first, at most as many as asked for', async () => {
    await write(aRun('old', 1), aRun('new', 3), aRun('mid', 2));
    expect(await list({ limit: 10 })).toEqual(['new', 'mid', 'old']);
    expect(await list({ limit: 2 })).toEqual(['new', 'mid']);
    expect(await list({ limit: 0 })).toEqual([]);
  });

  it('orders runs that started at once by id, so that pages are stable', async () => {
    await write(aRun('b', 1), aRun('c', 1), aRun('a', 1));
    expect(await list({ limit: 10 })).toEqual(['c', 'b', 'a']);
  });

  it('finds the runs of a name ignoring case where that is asked for: its own first, else those of the spelling that ran last', async () => {
    const named = (id: string, startedAt: number, identifier: string) =>
      aRun(id, startedAt, { issue: { ...issue(id), identifier } });
    await write(named('a', 1, 'Eng-1'), named('b', 2, 'ENG-1'), named('c', 3, 'eng-2'), named('d', 4, 'Eng-1'));
    expect(await list({ identifier: 'eng-1', limit: 9 })).toEqual([]);
    expect(await list({ identifier: 'eng-1', anyCase: true, limit: 9 })).toEqual(['d', 'a']);
    expect(await list({ identifier: 'ENG-1', anyCase: true, limit: 9 })).toEqual(['b']);
    expect(await list({ identifier: 'ENG-2', anyCase: true, mostly: TRACKER, limit: 9 })).toEqual(['c']);
    expect(await list({ identifier: 'eng-3', anyCase: true, limit: 9 })).toEqual([]);
  });

  it('goes on after a run, losing none of those that started at once', async () => {
    const runs = Array.from({ length: 25 }, (_, index) => aRun(`r${String(index).padStart(2, '0')}`, 1 + Math.floor(index / 20)));
    await write(...runs);
    const seen: string[] = [];
    for (let after: { startedAt: number; id: string } | undefined; ;) {
      const page = await harness().store.listRuns({ limit: 7, ...(after && { after }) });
      seen.push(...page.map(({ id }) => id));
      after = page.at(-1);
      if (page.length < 7) break;
    }
    expect(seen).toEqual(runs.map(({ id }) => id).toReversed());
  });

  it('adds up the runs of one agent alone', async () => {
    await write(aRun('a', 1, { agentKind: 'mock' }), aRun('b', 2, { agentKind: 'other' }), aRun('c', 3, { agentKind: 'other' }));
    const rows = await harness().store.statistics({ since: 0, by: 'day', agent: 'other' });
    expect(rows.map(({ runs }) => runs)).toEqual([2]);
  });

  it('adds up the runs of one issue of one tracker alone, without the dust of adding', async () => {
    const dime = (id: string) => aRun(id, 1, { issue: issue('1'), costUsd: 0.1 });
    await write(dime('a'), dime('b'), dime('c'), aRun('d', 1, { issue: issue('2'), costUsd: 5 }));
    await harness().store.apply('another', [{ write: 'run', run: aRun('e', 9, { issue: issue('1'), costUsd: 5 }) }]);
    const { identifier } = issue('1');
    for (const whose of [{ tracker: TRACKER }, { mostly: TRACKER, anyCase: true }]) {
      const rows = await harness().store.statistics({ since: 0, by: 'issue', identifier, ...whose });
      expect(rows.map(({ key, runs, costUsd }) => [key, runs, costUsd])).toEqual([[identifier, 3, 0.3]]);
    }
  });

  it('gives the newest notes on a subject, oldest first, also after it was closed, and forgets them with old runs', async () => {
    const note = (at: number, body: string, subject = 'issue A-1') => ({ at, subject, body });
    await harness().store.addNotes([note(1, 'one'), note(5, 'five'), note(5, 'five again'), note(3, 'three', 'issue B-1')]);
    await harness().store.addNotes([note(9, 'nine "quoted"\n')]);
    const store = await harness().reopen();
    const bodies = async (query: Parameters<Store['listNotes']>[0]) => (await store.listNotes(query)).map(({ body }) => body);
    expect(await bodies({ subject: 'issue A-1', limit: 3 })).toEqual(['five', 'five again', 'nine "quoted"\n']);
    expect(await bodies({ subject: 'issue A-1', since: 5, limit: 10 })).toHaveLength(3);
    expect(await bodies({ subject: 'issue C-1', limit: 10 })).toEqual([]);
    while (await store.forgetRuns(5, 10));
    expect(await bodies({ subject: 'issue A-1', limit: 10 })).toHaveLength(3);
    expect(await bodies({ subject: 'issue B-1', limit: 10 })).toEqual([]);
  });

  it('keeps but the last of notes that are to be the only ones on their subject', async () => {
    const note = (at: number, body: string, subject = 'last poll') => ({ at, subject, body, isOnly: true }) as const;
    await harness().store.addNotes([note(1, 'one'), note(1, 'other', 'else'), note(2, 'two')]);
    await harness().store.addNotes([note(3, 'three')]);
    const bodies = async (subject: string) => (await harness().store.listNotes({ subject, limit: 9 })).map(({ body }) => body);
    expect([await bodies('last poll'), await bodies('else')]).toEqual([['three'], ['other']]);
  });

  it.each(STATISTICS_BY)('adds runs up by %s', async (by) => {
    const day = 86_400_000;
    const tokens = { inputTokens: 10, outputTokens: 5, totalTokens: 15, cacheReadTokens: 3 };
    const runs = [
      aRun('a', 1, { issue: issue('1'), status: 'succeeded', endedAt: 5_001, costUsd: 1.5 }),
      aRun('b', day, { issue: issue('1'), status: 'failed', endedAt: day + 500, tokens }),
      aRun('c', day + 1, { issue: issue('2'), status: 'succeeded', endedAt: day + 9_001, agentKind: 'other' }),
      aRun('d', day + 2, { issue: issue('3') }),
    ];
    await write(...runs);
    expect(await harness().store.statistics({ since: 0, by })).toEqual(statisticsOf(runs, 0, by));
    expect(await harness().store.statistics({ since: day, by })).toEqual(statisticsOf(runs, day, by));
    expect(await harness().store.statistics({ since: 2 * day, by })).toEqual([]);
  });

  it('lists only runs that started before the given moment', async () => {
    await write(aRun('a', 1), aRun('b', 2), aRun('c', 3));
    expect(await list({ limit: 10, before: 3 })).toEqual(['b', 'a']);
  });

  it('lists only the runs of one identifier, spelled exactly', async () => {
    await write(aRun('a', 1, { issue: issue('1') }), aRun('b', 2, { issue: issue('2') }), aRun('c', 3, { issue: issue('1') }));
    expect(await list({ limit: 10, identifier: 'ABC-1' })).toEqual(['c', 'a']);
    expect(await list({ limit: 10, identifier: 'ABC-1', before: 3 })).toEqual(['a']);
    expect(await list({ limit: 10, identifier: 'abc-1' })).toEqual([]);
  });

  it('replaces a run of the same id', async () => {
    await write(aRun('a', 1), aRun('a', 1, { status: 'failed', endedAt: 9, error: 'broken' }));
    expect(await harness().store.findRun('a')).toEqual({
      run: aRun('a', 1, { status: 'failed', endedAt: 9, error: 'broken' }),
      events: [],
    });
  });

  it('finds no run by an unknown id', async () => {
    expect(await harness().store.findRun('nobody')).toBeNull();
  });

  it('marks the runs that were cut short, and no other', async () => {
    await write(aRun('live', 1), aRun('done', 2, { status: 'succeeded', endedAt: 4 }));
    await harness().store.apply(TRACKER, [{ write: 'interrupt-runs', at: 7 }]);
    expect(await harness().store.listRuns({ limit: 9 })).toEqual([
      aRun('done', 2, { status: 'succeeded', endedAt: 4 }),
      aRun('live', 1, { status: 'interrupted', endedAt: 7 }),
    ]);
  });

  it('sums up finished runs only, and counts those of unknown cost', async () => {
    const tokens = { inputTokens: 10, outputTokens: 5, totalTokens: 15, cacheReadTokens: 3 };
    await write(
      aRun('a', 1000, { endedAt: 3500, tokens, costUsd: 0.25 }),
      aRun('b', 2000, { endedAt: 3000, tokens, costUsd: null }),
      aRun('c', 3000, { tokens, costUsd: 9 }),
      aRun('d', 3000, { endedAt: 3000, costUsd: null }),
    );
    const expected = {
      runs: 3,
      inputTokens: 20,
      outputTokens: 10,
      totalTokens: 30,
      cacheReadTokens: 6,
      seconds: 3.5,
      costUsd: 0.25,
      unpricedRuns: 1,
    };
    expect(await harness().store.totals()).toEqual(expected);
    const reopened = await harness().reopen();
    expect(await reopened.totals()).toEqual(expected);
    expect(await reopened.forgetRuns(Number.MAX_SAFE_INTEGER, 1)).toBe(true);
    expect(await reopened.listRuns({ limit: 10 })).toHaveLength(3);
    while (await reopened.forgetRuns(Number.MAX_SAFE_INTEGER, 10));
    expect(await reopened.listRuns({ limit: 10 })).toHaveLength(1);
    expect(await reopened.totals()).toEqual(expected);
  });

  it('sums up more than a whole number holds', async () => {
    const most = Number.MAX_SAFE_INTEGER;
    const tokens = { inputTokens: most, outputTokens: most, totalTokens: most, cacheReadTokens: most };
    const runs = Array.from({ length: 1_100 }, (_none, index) => aRun(`r${index}`, 1000, { endedAt: 2000, tokens }));
    await write(...runs);
    const { store } = harness();
    expect((await store.totals()).totalTokens / most).toBeCloseTo(1_100);
    const [day] = await store.statistics({ since: 0, by: 'day' });
    expect((day?.tokens.totalTokens ?? 0) / most).toBeCloseTo(1_100);
    while (await store.forgetRuns(most, 1_000));
    expect((await store.totals()).totalTokens / most).toBeCloseTo(1_100);
  });
}

function eventsContract(harness: () => StoreHarness): void {
  const eventsOf = async (id: string) => (await harness().store.findRun(id))?.events ?? [];
  beforeEach(() => harness().store.apply(TRACKER, [{ write: 'run', run: aRun('a', 1) }]));

  it('keeps the events of a run in order, also when the run is replaced', async () => {
    await harness().store.apply(TRACKER, [{ write: 'run-events', events: events(2), maxBytes: ROOM }]);
    await harness().store.apply(TRACKER, [
      { write: 'run', run: aRun('a', 1, { turns: 4 }) },
      { write: 'run-events', events: events(1, 2), maxBytes: ROOM },
    ]);
    expect(await eventsOf('a')).toEqual(events(3));
  });

  it('forgets a run with many events in pieces, and the run with the last of them', async () => {
    const { store } = harness();
    await store.apply(TRACKER, [
      { write: 'run-events', events: events(90), maxBytes: ROOM },
      { write: 'run', run: aRun('a', 1, { status: 'succeeded', endedAt: 2 }) },
      { write: 'run', run: aRun('b', 3) },
    ]);
    const before = await store.totals();
    while (await store.forgetRuns(3, 50)) expect(await store.totals()).toEqual(before);
    expect(await store.findRun('a')).toBeNull();
    expect(await eventsOf('a')).toEqual([]);
    expect((await store.listRuns({ limit: 9 })).map(({ id }) => id)).toEqual(['b']);
    expect(await store.totals()).toEqual(before);
  });

  it('keeps what was called and what became of it', async () => {
    const recorded: RunEvent[] = [
      { ...anEvent(0), type: 'turn_started', details: { kind: 'turn', turn: 1, prompt: 'do it' } },
      { ...anEvent(1), details: { kind: 'call', toolId: 't', name: 'Bash', input: 'npm test' } },
      {
        ...anEvent(2),
        details: { kind: 'result', toolId: 't', name: 'Bash', input: 'npm test', ok: false, durationMs: 9, output: '1 failed' },
      },
    ];
    await harness().store.apply(TRACKER, [{ write: 'run-events', events: recorded, maxBytes: ROOM }]);
    expect(await eventsOf('a')).toEqual(recorded);
    expect((await (await harness().reopen()).findRun('a'))?.events).toEqual(recorded);
  });

  it('drops the oldest events beyond the bytes of a run and says so', async () => {
    await harness().store.apply(TRACKER, [
      { write: 'run', run: aRun('b', 1) },
      { write: 'run-events', events: [{ runId: 'b', at: 0, type: 'notice', text: 'stays' }], maxBytes: 10_000 },
    ]);
    for (let from = 0; from < 500; from += 50) {
      await harness().store.apply(TRACKER, [{ write: 'run-events', events: events(50, from), maxBytes: 10_000 }]);
    }
    const [first, ...rest] = await eventsOf('a');
    expect(first).toMatchObject({ type: 'left_out', details: { kind: 'left-out', events: 500 - rest.length } });
    expect(rest.length).toBeGreaterThan(100);
    expect(rest.map((event) => event.at)).toEqual(rest.map((_, index) => 500 - rest.length + index));
    expect(await eventsOf('b')).toHaveLength(1);
  });

  it('cuts a long text at 4096 characters, never through the middle of one', async () => {
    const texts = ['x'.repeat(5000), 'x'.repeat(4096), `${'x'.repeat(4095)}😀`];
    const long = texts.map((text) => ({ runId: 'a', at: 1, type: 'message', text }));
    await harness().store.apply(TRACKER, [{ write: 'run-events', events: long, maxBytes: ROOM }]);
    const kept = (await eventsOf('a')).map((event) => event.text);
    expect(kept).toEqual(['x'.repeat(4096), 'x'.repeat(4096), 'x'.repeat(4095)]);
  });
}

function operatorContract(harness: () => StoreHarness): void {
  const by = 'somebody';

  it('hands each request out once, and to the next daemon only while it is unanswered', async () => {
    const { store } = harness();
    const id = await store.addRequest({ kind: 'stop', identifier: 'ABC-1' }, by, TRACKER);
    const other = await store.addRequest({ kind: 'pause', reason: 'a holiday' }, by, TRACKER);
    const asked = [
      { id, request: { kind: 'stop', identifier: 'ABC-1' }, tracker: TRACKER, by, hasRuns: false },
      { id: other, request: { kind: 'pause', reason: 'a holiday' }, tracker: '', by, hasRuns: false },
    ];
    expect(await store.takeRequests([TRACKER])).toEqual(asked);
    expect(await store.takeRequests([TRACKER])).toEqual([]);
    expect(await store.findAnswer(id)).toBeNull();
    await store.apply(TRACKER, [{ write: 'answer', requestId: id, answer: { outcome: 'taken', message: 'done' }, at: 1 }]);
    expect(await store.findAnswer(id)).toEqual({ outcome: 'taken', message: 'done' });
    const next = await harness().reopen();
    expect(await next.takeRequests([TRACKER])).toEqual(asked.slice(1));
  });

  it('takes a request back that nobody answered, and tells the answer of one that was', async () => {
    const { store } = harness();
    const id = await store.addRequest({ kind: 'stop', identifier: 'ABC-1' }, by, TRACKER);
    const other = await store.addRequest({ kind: 'resume' }, by, null);
    const answer = { outcome: 'taken', message: 'done' } as const;
    await store.apply(TRACKER, [{ write: 'answer', requestId: other, answer, at: 1 }]);
    expect(await store.withdrawRequest(id)).toBeNull();
    expect(await store.withdrawRequest(other)).toEqual(answer);
    expect(await store.takeRequests([TRACKER])).toEqual([]);
  });

  it('tells whether the issue of a request was worked on before', async () => {
    const { store } = harness();
    await store.apply(TRACKER, [{ write: 'run', run: aRun('r1', 1, { issue: issue('1') }) }]);
    await store.addRequest({ kind: 'retry', identifier: issue('1').identifier }, by, TRACKER);
    await store.addRequest({ kind: 'retry', identifier: issue('1').identifier.toLowerCase() }, by, TRACKER);
    await store.addRequest({ kind: 'resume' }, by, null);
    expect((await store.takeRequests([TRACKER])).map(({ hasRuns }) => hasRuns)).toEqual([true, true, false]);
  });

  it('hands a request about an issue only to a daemon that works on its tracker, by whatever name it goes', async () => {
    const { store } = harness();
    await store.apply(TRACKER, [{ write: 'run', run: aRun('r1', 1, { issue: issue('1') }) }]);
    await store.nameTracker('another', 'the other one');
    const { identifier } = issue('1');
    await store.addRequest({ kind: 'stop', identifier }, by, 'another');
    await store.addRequest({ kind: 'stop', identifier: 'ABC-2' }, by, null);
    expect((await store.takeRequests([TRACKER])).map(({ request }) => request)).toEqual([{ kind: 'stop', identifier: 'ABC-2' }]);
    await store.addRequest({ kind: 'resume' }, by, 'another');
    const later = await store.takeRequests([TRACKER, 'the other one']);
    expect(later.map(({ request, tracker, hasRuns }) => [request.kind, tracker, hasRuns])).toEqual([
      ['stop', 'the other one', false],
      ['resume', '', false],
    ]);
    expect(await store.takeRequests([TRACKER, 'the other one'])).toEqual([]);
    // A name that turns out to be one of ours only after it was asked under.
    await store.addRequest({ kind: 'stop', identifier: 'ABC-3' }, by, 'a new name');
    expect(await store.takeRequests([TRACKER])).toEqual([]);
    await store.nameTracker('a new name', TRACKER);
    expect(await store.takeRequests([TRACKER])).toMatchObject([{ request: { identifier: 'ABC-3' }, tracker: TRACKER }]);
  });
}

const ROOM = 1_000_000;

function events(count: number, from = 0): RunEvent[] {
  return Array.from({ length: count }, (_, index) => anEvent(from + index));
}

function anEvent(at: number): RunEvent {
  return { runId: 'a', at, type: 'message', text: `n${at}` };
}

export const TRACKER = 'nsproject https://gitlab.com acme/app';

const NO_TOTALS = {
  runs: 0,
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  cacheReadTokens: 0,
  seconds: 0,
  costUsd: 0,
  unpricedRuns: 0,
};

/** The meaning of the writes, told once more in the plainest way. */
function modelOf(writes: readonly Write[]): Durable {
  return {
    claims: lastOf(writes, (write) =>
      write.write === 'claim' ? [write.claim.issue.id, write.claim] : write.write === 'release' && [write.issueId],
    ),
    parked: lastOf(writes, (write) =>
      write.write === 'park' ? [write.parked.issue.id, write.parked] : write.write === 'unpark' && [write.issueId],
    ),
    outbox: lastOf(writes, (write) =>
      write.write === 'outbox' ? [write.entry.id, write.entry] : write.write === 'outbox-done' && [write.id],
    ),
    workspaces: lastOf(writes, (write) =>
      write.write === 'workspace' ? [write.workspace.path, write.workspace] : write.write === 'workspace-gone' && [write.path],
    ),
    spent: lastOf(writes, (write) => write.write === 'spent' && [write.spent.issueId, write.spent]),
    pauses: lastOf(writes, (write) =>
      write.write === 'pause' ? [write.pause.agentKind, write.pause] : write.write === 'resume' && [write.agentKind],
    ),
    watches: lastOf(writes, (write) =>
      write.write === 'watch' ? [write.watch.issue.id, write.watch] : write.write === 'unwatch' && [write.issueId],
    ),
    approvals: lastOf(writes, (write) =>
      write.write === 'approve' ? [write.approval.issueId, write.approval] : write.write === 'unapprove' && [write.issueId],
    ),
    operatorPause: writes.reduce<OperatorPause | null>(
      (pause, write) => (write.write === 'operator-pause' ? write.pause : pause),
      null,
    ),
    told: lastOf(writes, (write) =>
      write.write === 'told' ? [write.told.subject, write.told] : write.write === 'told-over' && [write.subject],
    ),
  };
}

/** What remains of one kind of record: the last one put under each key and not taken away since. */
function lastOf<T>(writes: readonly Write[], read: (write: Write) => readonly [string, T?] | false): T[] {
  const kept = new Map<string, T>();
  for (const write of writes) {
    const change = read(write);
    if (change && change[1] !== undefined) kept.set(change[0], change[1]);
    else if (change) kept.delete(change[0]);
  }
  return [...kept.values()];
}

/** Only the outbox has an order that means something. */
function inKeyOrder(durable: Durable): Durable {
  const sorted = Object.entries(durable).map(([name, records]: [string, readonly object[] | OperatorPause | null]) => [
    name,
    name !== 'outbox' && Array.isArray(records)
      ? records.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
      : records,
  ]);
  return Object.fromEntries(sorted) as Durable;
}

/** The runs that a history leaves, each found by its id. */
async function expectRuns(store: Store, writes: readonly Write[]): Promise<void> {
  const runs = new Map<string, Run>();
  for (const write of writes) {
    if (write.write === 'run') runs.set(write.run.id, write.run);
    if (write.write !== 'interrupt-runs') continue;
    for (const run of runs.values()) {
      if (run.status === 'running') runs.set(run.id, { ...run, status: 'interrupted', endedAt: write.at });
    }
  }
  for (const run of runs.values()) expect((await store.findRun(run.id))?.run).toEqual(run);
  expect(await store.listRuns({ limit: 100 })).toHaveLength(runs.size);
}

function issue(id: string): IssueRef {
  return { id, identifier: `ABC-${id}`, displayIdentifier: null, title: 'Title', url: 'https://tracker.test/1', state: 'todo' };
}

function parkedIssue(id: string): Parked {
  return { issue: issue(id), reason: 'blocked', detail: 'waits for a key', parkedAt: 1, stateAtPark: 'todo' };
}

function aRun(id: string, startedAt: number, changes: Partial<Run> = {}): Run {
  return {
    id,
    issue: issue('1'),
    attempt: 0,
    trigger: 'fresh',
    agentKind: 'mock',
    status: 'running',
    startedAt,
    endedAt: null,
    turns: 1,
    sessionId: 's',
    workspacePath: '/w',
    model: null,
    tokens: { inputTokens: 0, outputTokens: 0, totalTokens: 0, cacheReadTokens: 0 },
    tokensMeasured: true,
    costUsd: null,
    error: null,
    ...changes,
  };
}
