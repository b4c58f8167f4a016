import { describe, expect, it } from 'vitest';
import { createAccountLimits, ERROR_KINDS, kindOf, kindOfText, STATUS_KINDS, turnErrorOf } from './classify.ts';
import { readNote } from './parse.ts';
import { AUTH_401, FAIL_500 } from '../../../test/support/codex/recorded.ts';

describe('an error of Codex by its name', () => {
  it.each(Object.entries(ERROR_KINDS))('%s is %s', (codexErrorInfo, kind) => {
    expect(kindOf({ message: 'x', codexErrorInfo })).toBe(kind);
  });

  it.each(['newName', 'toString', '__proto__'])('%s, which is unknown, fails the turn', (codexErrorInfo) => {
    expect(kindOf({ message: 'x', codexErrorInfo })).toBe('turn_failed');
  });
});

describe('an error of Codex by the status it carries', () => {
  it.each(Object.entries(STATUS_KINDS))('%s is %s', (status, kind) => {
    const codexErrorInfo = { httpConnectionFailed: { httpStatusCode: Number(status) } };
    expect(kindOf({ message: 'x', codexErrorInfo })).toBe(kind);
  });

  it.each([500, null])('%s fails the turn', (httpStatusCode) => {
    const codexErrorInfo = { responseTooManyFailedAttempts: { httpStatusCode } };
    expect(kindOf({ message: 'exceeded retry limit', codexErrorInfo })).toBe('turn_failed');
  });
});

describe('an error of Codex by its text', () => {
  it.each([
    ['unexpected status 401 Unauthorized: bad key, url: http://127.0.0.1:9999/v1/responses', 'agent_not_logged_in'],
    ['Not logged in', 'agent_not_logged_in'],
    ['Your access token could not be refreshed. Please log out and sign in again.', 'agent_not_logged_in'],
    ["You've hit your usage limit. Upgrade to Pro", 'agent_usage_limit'],
    ['Quota exceeded. Check your plan and billing details.', 'agent_usage_limit'],
    ['exceeded retry limit, last status: 429 Too Many Requests', 'agent_usage_limit'],
    ['We’re currently experiencing high demand', undefined],
    ['failed to write rollout: Disk quota exceeded (os error 122)', undefined],
    ['Disc quota exceeded (os error 69)', undefined],
  ])('%j is %s', (text, kind) => {
    expect(kindOfText(text)).toBe(kind);
    expect(kindOf({ message: text, codexErrorInfo: 'other' })).toBe(kind ?? 'turn_failed');
    expect(kindOf({ message: text })).toBe(kind ?? 'turn_failed');
  });
});

describe('the recorded failures', () => {
  it.each([
    ['a bad key', AUTH_401, 'agent_not_logged_in'],
    ['status 500', FAIL_500, 'turn_failed'],
  ])('of %s are known', (_name, said, kind) => {
    const last = said.at(-1);
    const note = readNote(last?.method ?? '', last?.params);
    if (note?.type !== 'turn-ended' || !note.end.error) throw new Error('not a failed turn');
    expect(turnErrorOf(note.end.error, createAccountLimits(), 0)).toMatchObject({ kind });
  });

  it('say what to do about a login', () => {
    const error = turnErrorOf({ message: 'x', codexErrorInfo: 'unauthorized' }, createAccountLimits(), 0);
    expect(error.message).toBe(
      'agent: agent_not_logged_in: codex: x; run `codex login` as the user that runs foray, or set CODEX_API_KEY',
    );
  });
});

describe('the limits of the account', () => {
  const NOW = Date.parse('2027-01-05T15:00:00Z');
  const HOUR = 3_600_000;
  const inSeconds = (ms: number): number => (NOW + ms) / 1000;

  it('lift when the last spent window does, whatever the text says', () => {
    const limits = createAccountLimits();
    limits.add({
      limitId: 'codex',
      primary: { usedPercent: 100, resetsAt: inSeconds(HOUR) },
      secondary: { usedPercent: 100, resetsAt: inSeconds(5 * HOUR) },
    });
    limits.add({ limitId: 'other', primary: { usedPercent: 20, resetsAt: inSeconds(9 * HOUR) } });
    const error = turnErrorOf({ message: 'Try again in 1 minute', codexErrorInfo: 'usageLimitExceeded' }, limits, NOW);
    expect(error.resetsAt).toBe(NOW + 5 * HOUR);
  });

  it('lift as the text says when no window is spent, or its time has passed', () => {
    const limits = createAccountLimits();
    limits.add({
      primary: { usedPercent: 100, resetsAt: inSeconds(-HOUR) },
      secondary: { usedPercent: 99, resetsAt: inSeconds(HOUR) },
    });
    const limited = { codexErrorInfo: 'usageLimitExceeded' };
    expect(turnErrorOf({ ...limited, message: 'Try again in 1 minute' }, limits, NOW).resetsAt).toBe(NOW + 60_000);
    expect(turnErrorOf({ ...limited, message: 'usage limit reached' }, limits, NOW).resetsAt).toBeUndefined();
  });

  it('remember a window that a later report leaves out', () => {
    const limits = createAccountLimits();
    limits.add({ limitId: 'codex', primary: { usedPercent: 100, resetsAt: inSeconds(HOUR) } });
    limits.add({ limitId: 'codex', primary: null, secondary: null });
    expect(limits.resetsAt(NOW)).toBe(NOW + HOUR);
  });
});
