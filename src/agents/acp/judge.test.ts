import { describe, expect, it } from 'vitest';
import { judge, STOP_REASONS, type TurnFacts } from './judge.ts';

const NONE: TurnFacts = {
  worked: false,
  usedTools: false,
  toolWorked: false,
  changed: false,
  refused: null,
  text: '',
  lastText: '',
  failure: null,
};
const at = (now: number) => ({ now, changedBefore: false });
const WORK: TurnFacts = { ...NONE, worked: true, usedTools: true, toolWorked: true, text: 'done' };

/** What each stop reason of the protocol comes to, with work and without. */
const EXPECTED = {
  end_turn: ['ok', 'agent_did_nothing'],
  max_turn_requests: ['ok', 'agent_did_nothing'],
  refusal: ['agent_refused', 'agent_refused'],
  max_tokens: ['turn_failed', 'turn_failed'],
  cancelled: ['turn_failed', 'turn_failed'],
} as const;

const nameOf = (facts: TurnFacts, reason: string) => {
  const verdict = judge(reason, facts, at(0));
  return verdict.ok ? 'ok' : verdict.error.kind;
};

describe('judge', () => {
  it('knows every stop reason', () => {
    expect(Object.keys(STOP_REASONS).sort()).toEqual(Object.keys(EXPECTED).sort());
  });

  it.each(Object.entries(EXPECTED))('%s is %j', (reason, [withWork, withoutWork]) => {
    expect(nameOf(WORK, reason)).toBe(withWork);
    expect(nameOf(NONE, reason)).toBe(withoutWork);
  });

  it.each(['', 'done', 'END_TURN', 'toString', '__proto__'])('an unknown reason fails: %s', (reason) => {
    expect(nameOf(WORK, reason)).toBe('turn_failed');
  });

  it('tells that a turn was cut short', () => {
    expect(judge('max_turn_requests', WORK, at(0))).toMatchObject({
      ok: true,
      notice: expect.stringContaining('limit') as unknown,
    });
  });

  it('tells what the agent said when it refused', () => {
    const verdict = judge('refusal', { ...WORK, text: 'I will not\ndo this' }, at(0));
    expect(verdict).toMatchObject({ error: { message: 'agent: agent_refused: the agent refused to go on: I will not do this' } });
  });

  it.each([
    ['Error: something broke', 'turn_failed'],
    ['API Error: 429 {"type":"rate_limit_error"}', 'agent_usage_limit'],
    ['API error (status 500)', 'turn_failed'],
  ])('an error as the only text is a failure: %s', (text, kind) => {
    expect(nameOf({ ...WORK, usedTools: false, text }, 'end_turn')).toBe(kind);
    expect(nameOf({ ...WORK, usedTools: true, text }, 'end_turn')).toBe('ok');
  });

  it.each(['Errors are handled now.', 'The error: fixed.', 'Error handling was added to 3 files'])(
    'other text is not: %s',
    (text) => {
      expect(nameOf({ ...WORK, usedTools: false, text }, 'end_turn')).toBe('ok');
    },
  );

  it.each([
    ['was all that was tried', 'end_turn', { toolWorked: false }, 'agent_needs_person'],
    ['stopped the agent', 'cancelled', {}, 'agent_needs_person'],
    ['left other work', 'end_turn', {}, 'ok'],
  ] as const)('a refused permission that %s', (_name, reason, facts, kind) => {
    expect(nameOf({ ...WORK, refused: 'Write x', ...facts }, reason)).toBe(kind);
  });

  it('a limit carries the time at which it lifts', () => {
    const failure = 'usage limit reached, try again in 5 minutes';
    const verdict = judge('end_turn', { ...WORK, failure }, at(1_000_000));
    expect(verdict).toMatchObject({ error: { kind: 'agent_usage_limit', resetsAt: 1_300_000 } });
  });
});
