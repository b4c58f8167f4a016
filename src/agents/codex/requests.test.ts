import { afterEach, describe, expect, it } from 'vitest';
import { faultKind, keepFakes, say, until } from '../../../test/support/codex/fake-app-server.ts';
import * as recorded from '../../../test/support/codex/recorded.ts';

const GOOD_TURN = say(recorded.WORKING_TURN);
const { fakeCodex, cleanUp } = keepFakes();
afterEach(cleanUp);

describe('requests of Codex', () => {
  const policies: [string, Record<string, string>, string][] = [
    ['never', {}, 'decline'],
    ['on-request in a writable workspace', { approval_policy: 'on-request' }, 'accept'],
    ['untrusted in a sandbox that only reads', { approval_policy: 'untrusted', sandbox: 'read-only' }, 'decline'],
  ];
  it.each(policies)('are answered by the policy %s', async (_name, options, decision) => {
    const fake = fakeCodex();
    const { result } = await fake.turn(await fake.start({}, {}, options), [{ ask: recorded.ASKED_COMMAND }, ...GOOD_TURN]);
    expect(result).toEqual({ ok: true });
    expect(fake.log().flatMap(({ received }) => (received?.['result'] ? [received['result']] : []))).toEqual([{ decision }]);
  });

  it('that only a person can answer end the turn, and the next one too', async () => {
    const fake = fakeCodex({}, { readTimeoutMs: 10_000, stopGraceMs: 20_000 });
    const session = await fake.start();
    const { result } = await fake.turn(session, [{ ask: recorded.ASKED_PERSON }, { untilInterrupted: true }]);
    expect(result).toMatchObject({ fault: { kind: 'agent_needs_person', consequence: 'park' } });
    expect(JSON.stringify(result)).toContain('Which database?');
    expect(fake.received('turn/interrupt')).toHaveLength(1);
    const next = await fake.turn(session, GOOD_TURN);
    expect(faultKind(next.result)).toBe('agent_needs_person');
  });

  it('are answered between turns as well, and shown in the next one', async () => {
    const fake = fakeCodex();
    const session = await fake.start({ afterOpen: [{ id: 77, ...recorded.ASKED_COMMAND }] });
    const { events } = await fake.turn(session, GOOD_TURN);
    expect(events).toContainEqual({ type: 'notice', text: 'declined a command /bin/bash -lc ls' });
    const answers = (): unknown[] => fake.log().flatMap(({ received }) => (received?.['id'] === 77 ? [received['result']] : []));
    await until(() => answers().length > 0);
    expect(answers()).toEqual([{ decision: 'decline' }]);
  });
});
