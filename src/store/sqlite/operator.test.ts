import { existsSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { StoreError } from '../errors.ts';
import { openStore } from './open.ts';
import { askThroughDatabase } from './operator.ts';
import type { SqliteStore } from './sqlite-store.ts';
import type { OperatorRequest } from '../../domain/model/operator.ts';
import { anIssue, anOwner, aParked, CLOCK, makeFolder, TRACKER } from '../../../test/support/store/database.ts';

const folder = makeFolder();
afterAll(() => folder.remove());

const BY = 'somebody';
const open = (path: string) => openStore({ path, owner: anOwner(), clock: CLOCK });
const unparking = (identifier: string): OperatorRequest => ({ kind: 'unpark', identifier });

/** A database where `ABC-1` and `ABC-2` are parked and have spent something, and `ABC-5` waits for its retry. */
async function database(name: string): Promise<{ path: string; store: SqliteStore }> {
  const path = folder.file(name);
  const store = await open(path);
  for (const id of ['1', '2']) {
    const spent = { issueId: id, sessions: 3, tokens: 100, costUsd: 1 };
    await store.apply(TRACKER, [
      { write: 'park', parked: aParked(id) },
      { write: 'spent', spent },
    ]);
  }
  const then = { kind: 'run', trigger: 'error', reaction: null } as const;
  const base = { attempt: 1, failures: 1, refusals: 0, sessionId: null, since: 0 };
  const dueAt = Date.now() + 3_600_000;
  await store.apply(TRACKER, [
    { write: 'claim', claim: { ...base, issue: anIssue('5'), phase: 'waiting', dueAt, error: 'broken', then } },
  ]);
  return { path, store };
}

describe('without a daemon', () => {
  it('releases a parked issue and gives it its budgets back', async () => {
    const { path, store } = await database('alone.db');
    await store.close();
    expect(await askThroughDatabase({ path, tracker: TRACKER }, unparking('abc-1'), BY)).toEqual({
      answer: { outcome: 'taken', message: 'ABC-1 is released' },
      byDaemon: false,
    });
    expect((await askThroughDatabase({ path, tracker: TRACKER }, unparking('ABC-1'), BY)).answer).toMatchObject({
      outcome: 'unknown',
    });
    const after = await open(path);
    const { parked, spent } = await after.load(TRACKER);
    expect(parked.map((entry) => entry.issue.identifier)).toEqual(['ABC-2']);
    expect(spent.find((entry) => entry.issueId === '1')).toMatchObject({ sessions: 0, tokens: 0, costUsd: 0 });
    expect(await after.takeRequests([TRACKER])).toEqual([]);
    await after.close();
  });

  it('prefers the spelling it was given', async () => {
    const { path, store } = await database('exact.db');
    await store.apply(TRACKER, [{ write: 'park', parked: { ...aParked('3'), issue: { ...anIssue('3'), identifier: 'abc-2' } } }]);
    await store.close();
    expect((await askThroughDatabase({ path, tracker: TRACKER }, unparking('abc-2'), BY)).answer.outcome).toBe('taken');
    const after = await open(path);
    expect((await after.load(TRACKER)).parked.map((entry) => entry.issue.identifier)).toEqual(['ABC-1', 'ABC-2']);
    await after.close();
  });

  it('pauses, resumes and makes a waiting issue due, but has nothing to stop', async () => {
    const { path, store } = await database('durable.db');
    await store.close();
    expect(
      (await askThroughDatabase({ path, tracker: TRACKER }, { kind: 'pause', reason: 'a holiday' }, BY)).answer.outcome,
    ).toBe('taken');
    expect((await askThroughDatabase({ path, tracker: TRACKER }, { kind: 'retry', identifier: 'ABC-5' }, BY)).answer).toEqual({
      outcome: 'taken',
      message: 'ABC-5 is due now, but the service is paused: "foray resume" lets it run',
    });
    expect((await askThroughDatabase({ path, tracker: TRACKER }, { kind: 'stop', identifier: 'ABC-5' }, BY)).answer.outcome).toBe(
      'refused',
    );
    const paused = await open(path);
    const { operatorPause, claims } = await paused.load(TRACKER);
    expect(operatorPause).toMatchObject({ reason: 'a holiday', by: BY });
    expect(claims).toMatchObject([{ phase: 'waiting', issue: { identifier: 'ABC-5' } }]);
    expect(claims[0]?.phase === 'waiting' && claims[0].dueAt <= Date.now()).toBe(true);
    await paused.close();
    expect((await askThroughDatabase({ path, tracker: TRACKER }, { kind: 'resume' }, BY)).answer.outcome).toBe('taken');
    expect((await askThroughDatabase({ path, tracker: TRACKER }, { kind: 'resume' }, BY)).answer).toEqual({
      outcome: 'refused',
      message: 'the service is not paused',
    });
  });

  it('says of what ran when the service was killed that it goes on, or is parked, at the next start', async () => {
    const { path, store } = await database('killed.db');
    const base = { phase: 'running', attempt: 0, failures: 0, refusals: 0, sessionId: null, since: 0, reaction: null } as const;
    const claims = [
      { ...base, issue: anIssue('6'), runId: 'r6', trigger: 'fresh', stoppedBy: null },
      { ...base, issue: anIssue('7'), runId: 'r7', trigger: 'fresh', stoppedBy: 'eve' },
    ] as const;
    await store.apply(
      TRACKER,
      claims.map((claim) => ({ write: 'claim', claim })),
    );
    await store.close();
    const ask = async (kind: 'retry' | 'unpark' | 'stop', identifier: string) =>
      (await askThroughDatabase({ path, tracker: TRACKER }, { kind, identifier }, BY)).answer;
    expect(await ask('retry', 'ABC-6')).toEqual({
      outcome: 'taken',
      message: 'ABC-6 was running when the service ended: it is due as soon as the service starts',
    });
    for (const kind of ['retry', 'unpark'] as const)
      expect(await ask(kind, 'ABC-7')).toEqual({
        outcome: 'refused',
        message: 'the session of ABC-7 was being ended when the service ended (eve stopped it): ask again when the service runs',
      });
    expect(await ask('stop', 'ABC-6')).toEqual({
      outcome: 'refused',
      message:
        'no service is running that could stop ABC-6; what a service that was killed left running is ended when it starts again',
    });
    const after = await open(path);
    expect((await after.load(TRACKER)).claims.filter(({ phase }) => phase === 'running')).toEqual(claims);
    await after.close();
  });

  it('ends the pause of the agent that an issue waits for', async () => {
    const { path, store } = await database('limit.db');
    const [claim] = (await store.load(TRACKER)).claims;
    const until = claim?.phase === 'waiting' ? claim.dueAt : 0;
    const pauses = [
      { agentKind: 'codex', until, reason: 'limit' },
      { agentKind: 'acp', until: until + 1, reason: 'another' },
    ];
    await store.apply(
      TRACKER,
      pauses.map((pause) => ({ write: 'pause', pause })),
    );
    await store.close();
    const { answer } = await askThroughDatabase({ path, tracker: TRACKER }, { kind: 'retry', identifier: 'ABC-5' }, BY);
    const was = new Date(until).toISOString();
    expect(answer.message).toBe(`ABC-5 is due now, and the agent codex is no longer paused (it was until ${was})`);
    const after = await open(path);
    expect((await after.load(TRACKER)).pauses).toMatchObject([{ agentKind: 'acp' }]);
    await after.close();
  });

  it('fails where there is no database, and makes none', async () => {
    const path = folder.file('missing.db');
    const error = await askThroughDatabase({ path, tracker: TRACKER }, unparking('ABC-1'), BY).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreError);
    expect((error as StoreError).kind).toBe('missing');
    expect((error as StoreError).message).toContain(`database ${path}: does not exist: check the path of the workflow file`);
    expect(existsSync(path)).toBe(false);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

describe('with a daemon', () => {
  it('leaves the request to it, touches nothing itself and waits for the answer', async () => {
    const { path, store } = await database('daemon.db');
    const asking = askThroughDatabase({ path, tracker: TRACKER }, unparking('ABC-1'), BY);
    const asked = await taken(store);
    expect(asked).toMatchObject({ request: unparking('ABC-1'), by: BY });
    expect((await store.load(TRACKER)).parked).toHaveLength(2);
    await store.apply(TRACKER, [{ write: 'answer', requestId: asked.id, answer: { outcome: 'taken', message: 'yes' }, at: 1 }]);
    expect(await asking).toEqual({ answer: { outcome: 'taken', message: 'yes' }, byDaemon: true });
    await store.close();
  });

  it('carries the request out itself where the daemon ends without an answer', async () => {
    const { path, store } = await database('ending.db');
    const asking = askThroughDatabase({ path, tracker: TRACKER }, unparking('ABC-1'), BY);
    await taken(store);
    await store.close();
    expect(await asking).toEqual({ answer: { outcome: 'taken', message: 'ABC-1 is released' }, byDaemon: false });
    const after = await open(path);
    expect(await after.takeRequests([TRACKER])).toEqual([]);
    await after.close();
  });
});

/** The next request, as the daemon finds it. */
async function taken(store: SqliteStore) {
  for (;;) {
    const [asked] = await store.takeRequests([TRACKER]);
    if (asked) return asked;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
