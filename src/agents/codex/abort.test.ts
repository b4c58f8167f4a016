import { afterEach, describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../domain/model/agent-event.ts';
import { faultKind, keepFakes, say, until } from '../../../test/support/codex/fake-app-server.ts';
import * as recorded from '../../../test/support/codex/recorded.ts';
import { isAlive } from '../../../test/support/processes.ts';

const GOOD_TURN = say(recorded.WORKING_TURN);
const { fakeCodex, cleanUp } = keepFakes();
afterEach(cleanUp);

describe('an aborted turn', () => {
  it('is interrupted in the words of Codex, and the process ends', async () => {
    const fake = fakeCodex({}, { readTimeoutMs: 10_000, stopGraceMs: 20_000 });
    const session = await fake.start();
    const controller = new AbortController();
    const prompt = JSON.stringify([...say(recorded.message('at work')), { untilInterrupted: true }]);
    const abort = (): void => controller.abort();
    const result = await session.runTurn({ number: 1, prompt }, ({ type }) => type === 'message' && abort(), controller.signal);
    expect(faultKind(result)).toBe('turn_cancelled');
    expect(fake.received('turn/interrupt')[0]?.['params']).toEqual({ threadId: 'thread-new', turnId: 'turn-1' });
    expect(fake.ledger.map((line) => line.split(' ')[0])).toEqual(['started', 'ended']);
    expect(faultKind((await fake.turn(session, GOOD_TURN)).result)).not.toBe('ok');
  });

  it('is cancelled even if Codex calls it completed afterwards', async () => {
    const fake = fakeCodex();
    const controller = new AbortController();
    const session = await fake.start();
    const running = session.runTurn(
      { number: 1, prompt: JSON.stringify(GOOD_TURN) },
      (event) => event.type === 'message' && controller.abort(),
      controller.signal,
    );
    expect(faultKind(await running)).toBe('turn_cancelled');
  });

  it('ends a stubborn process and what it left outside of its group', async () => {
    const fake = fakeCodex({}, { stopGraceMs: 200, readTimeoutMs: 30_000 });
    const controller = new AbortController();
    const session = await fake.start({ ignoreSigterm: true, ignoreInterrupt: true });
    const events: AgentEvent[] = [];
    const prompt = JSON.stringify([{ spawnStubborn: true }, { hang: true }]);
    const running = session.runTurn({ number: 1, prompt }, (event) => events.push(event), controller.signal);
    await until(() => fake.log().some((entry) => entry['stubborn']) && events.some(({ type }) => type === 'tool_started'));
    const pids = fake
      .log()
      .flatMap(({ started, stubborn }) => [started?.['pid'], stubborn])
      .filter((pid) => typeof pid === 'number');
    expect(pids).toHaveLength(2);
    expect(pids.map(isAlive)).toEqual([true, true]);
    const began = performance.now();
    controller.abort();
    expect(faultKind(await running)).toBe('turn_cancelled');
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(events).toContainEqual({ type: 'tool_ended', toolId: 's', name: 'shell', ok: false });
  });

  it('starts nothing when it was aborted before', async () => {
    const fake = fakeCodex();
    const { result } = await fake.turn(await fake.start(), GOOD_TURN, AbortSignal.abort());
    expect(faultKind(result)).toBe('turn_cancelled');
  });

  it('ends with the session, which may be stopped twice', async () => {
    const fake = fakeCodex();
    const session = await fake.start();
    const running = fake.turn(session, [{ hang: true }]);
    await until(() => fake.received('turn/start').length === 1);
    await Promise.all([session.stop(), session.stop()]);
    expect(faultKind((await running).result)).toBe('turn_cancelled');
  });

  it('gives up a start that hangs', async () => {
    const fake = fakeCodex();
    const controller = new AbortController();
    const starting = fake.start({ silentOn: 'thread/start' }, {}, {}, controller.signal);
    await until(() => fake.ledger.length === 1 && fake.received('thread/start').length === 1);
    controller.abort();
    await expect(starting).rejects.toMatchObject({ kind: 'turn_cancelled' });
    expect(fake.ledger).toHaveLength(2);
  });
});
