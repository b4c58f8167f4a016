import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentSession } from '../../ports/agent.ts';
import { faultKind, keepFakes, lastUsage, say, type FakeCodex, type Step } from '../../../test/support/codex/fake-app-server.ts';
import * as recorded from '../../../test/support/codex/recorded.ts';
import { heldMb } from '../../../test/support/held-memory.ts';

const GOOD_TURN = say(recorded.WORKING_TURN);
const { fakeCodex, cleanUp } = keepFakes();
afterAll(cleanUp);

const ODD_ERROR = { message: 'it broke', codexErrorInfo: 42, additionalDetails: ['x'] };

type Case = [name: string, steps: Step[], kind: string, text: string];

describe('a turn that does not count', () => {
  const completed = recorded.turnEnded('completed');
  const { message, usage } = recorded;
  const tooLong = `{"method":"turn/completed","params":{"threadId":"thread-new","turn":{"id":"$U","x":"${'x'.repeat(4_300_000)}"}}}`;
  const sandboxFailed = 'no command of the turn was run: its sandbox failed: bwrap: Creating new namespace failed';
  const cases: Case[] = [
    ['a bad key', say(recorded.AUTH_401), 'agent_not_logged_in', '401 Unauthorized'],
    ['status 500', say(recorded.FAIL_500), 'turn_failed', 'high demand'],
    ['no word and no tool', say(recorded.USER_MESSAGE, usage(1), completed), 'agent_did_nothing', 'without a word'],
    ['a word without a letter', say(usage(1), message('\u200b'), completed), 'agent_did_nothing', 'without a word'],
    ['a broken sandbox', say(recorded.LOST_COMMAND, message('DONE'), completed), 'agent_did_nothing', sandboxFailed],
    ['a broken sandbox that leaves no item', say(usage(2), message('DONE'), usage(3), completed), 'agent_did_nothing', 'sandbox'],
    [
      'commands that were all declined',
      say(recorded.DECLINED_COMMAND, message('no'), completed),
      'agent_did_nothing',
      'not approved',
    ],
    ['an interrupt that was not ours', say(message('x'), recorded.turnEnded('interrupted')), 'turn_failed', 'by itself'],
    [
      'an error that is only a text',
      say(message('x'), recorded.turnEnded('failed', 'no space left')),
      'turn_failed',
      'no space left',
    ],
    ['an error of odd parts', say(message('x'), recorded.turnEnded('failed', ODD_ERROR)), 'turn_failed', 'it broke'],
    ['an error that says nothing', say(message('x'), recorded.turnEnded('failed', 7)), 'turn_failed', 'without a reason'],
    ['an unknown end', say(message('x'), recorded.turnEnded('exploded')), 'agent_protocol_error', 'exploded'],
    ['an end that is too long to be read', [{ raw: tooLong }], 'agent_protocol_error', 'unreadable'],
  ];
  let [fake, session] = [] as unknown as [FakeCodex, AgentSession];
  beforeAll(async () => {
    fake = fakeCodex();
    session = await fake.start({ sandboxExit: 1 });
  });

  it.each(cases)('%s', async (_name, steps, kind, text) => {
    const { result } = await fake.turn(session, steps);
    expect(faultKind(result)).toBe(kind);
    expect(JSON.stringify(result)).toContain(text);
  });

  it('but text between calls that Codex shows no item for counts, when its sandbox works', async () => {
    const other = fakeCodex();
    const steps = say(usage(2), message('I looked at the goal.'), usage(3), completed);
    expect((await other.turn(await other.start(), steps)).result).toEqual({ ok: true });
    expect(other.received('command/exec')).toHaveLength(1);
  });

  it('unless only the error beside it cannot be read', async () => {
    const steps = [...GOOD_TURN.slice(0, -1), ...say(recorded.turnEnded('completed', 'odd'))];
    expect((await fake.turn(session, steps)).result).toEqual({ ok: true });
  });

  it('leaves the session fit for another one', async () => {
    expect((await fake.turn(session, GOOD_TURN)).result).toEqual({ ok: true });
  });

  it('still counts what was spent on it', async () => {
    const { events } = await fake.turn(session, say(usage(4), recorded.FAIL_500));
    expect(lastUsage(events)).toMatchObject({ tokens: { totalTokens: 4 * 1290 } });
  });

  it('tells when a usage limit lifts', async () => {
    const resetsAt = Math.floor(Date.now() / 1000) + 3600;
    const rateLimits = { limitId: 'codex', primary: { usedPercent: 100, windowDurationMins: 300, resetsAt }, secondary: null };
    const limits = { method: 'account/rateLimits/updated', params: { rateLimits } };
    const ended = recorded.turnEnded('failed', { message: "You've hit your usage limit.", codexErrorInfo: 'usageLimitExceeded' });
    const { result } = await fake.turn(session, say(limits, ended));
    expect(result).toMatchObject({ fault: { kind: 'agent_usage_limit', consequence: 'pause-agent', resetsAt: resetsAt * 1000 } });
  });

  it('shows the retries of Codex as notices', async () => {
    const { events } = await fake.turn(session, say(recorded.FAIL_500));
    const texts = events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
    expect(texts[0]).toMatch(/^codex: Reconnecting\.\.\. 1\/5 \(We’re currently/);
  });
});

describe('a turn whose process', () => {
  const cases: Case[] = [
    [
      'fails in between',
      [...say(recorded.message('x')), { stderr: '\u001b[31mpanicked\u001b[0m at main\n' }, { exit: 101 }],
      'agent_exited',
      'exit code 101: panicked at main',
    ],
    ['leaves in between', [...say(recorded.message('x')), { exit: 0 }], 'agent_exited', 'exit code 0'],
  ];
  it.each(cases)('%s does not count', async (_name, steps, kind, text) => {
    const fake = fakeCodex();
    const session = await fake.start();
    const { result } = await fake.turn(session, steps);
    expect(faultKind(result)).toBe(kind);
    expect(JSON.stringify(result)).toContain(text);
    expect(faultKind((await fake.turn(session, GOOD_TURN)).result)).toBe(kind);
  });

  it('refuses its start does not count', async () => {
    const fake = fakeCodex();
    const { result } = await fake.turn(await fake.start({ refuse: { 'turn/start': 'thread not found' } }), GOOD_TURN);
    expect(faultKind(result)).toBe('turn_failed');
    expect(JSON.stringify(result)).toContain('thread not found');
  });
});

describe('a flood', () => {
  it('of lines and messages stays small in memory and in events', async () => {
    const fake = fakeCodex();
    const session = await fake.start();
    const said = recorded.message('again and again').at(-1) ?? {};
    const before = await heldMb();
    const steps: Step[] = [
      { flood: [40, 1_000_000] },
      { flood: [10, 2_000_000] },
      { flood: [10_000, 100] },
      { repeat: [5_000, said] },
    ];
    const { result, events } = await fake.turn(session, [...steps, ...GOOD_TURN]);
    expect(result).toEqual({ ok: true });
    expect((await heldMb()) - before).toBeLessThan(20);
    expect(events.length).toBeLessThan(600);
    expect(events.some(({ type, ...rest }) => type === 'notice' && 'text' in rest && rest.text.endsWith('are not shown'))).toBe(
      true,
    );
    expect(events.findLast((event) => event.type === 'message')?.text).toMatch(/DONE: wrote hello\.txt$/);
    expect(lastUsage(events)).toMatchObject({ requests: 2 });
  });

  it('of requests to a process that does not read ends it', async () => {
    const fake = fakeCodex();
    await expect(fake.start({ deaf: true }, {}, {}, AbortSignal.timeout(300))).rejects.toMatchObject({ kind: 'turn_cancelled' });
  });
});
