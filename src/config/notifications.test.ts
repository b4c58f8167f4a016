import { describe, expect, it } from 'vitest';
import { collectSecrets } from './secrets.ts';
import { readNotifications } from './notifications.ts';

const ENV = { HOOK: 'https://hooks.slack.com/services/T0/B0/xyzxyz', SIGN: 'shared-secret' };
const ALL = { format: 'json', on: ['handoff'] } as const;
type Keys = Parameters<typeof readNotifications>[0];

const read = (...keys: readonly object[]) => readNotifications(keys.map((one) => ({ ...ALL, ...one })) as unknown as Keys, ENV);
const told = (...keys: readonly object[]) =>
  read(...keys).problems.map(({ severity, check, message }) => `${severity} ${check} ${message}`);

describe('notifications of the workflow file', () => {
  it('are called by their variables, and everything about the address is a secret', () => {
    const { targets, problems, secrets } = read(
      { url: '$HOOK', secret: '${SIGN}' },
      { url: '$HOOK', on: ['merged'] },
      { url: 'http://127.0.0.1:8/x' },
    );
    expect(problems).toEqual([]);
    expect(targets.map(({ name, secret }) => [name, secret])).toEqual([
      ['HOOK', 'shared-secret'],
      ['HOOK-2', null],
      ['target-3', null],
    ]);
    const { values, variables } = collectSecrets([], secrets, ENV);
    expect(values).toEqual(expect.arrayContaining([ENV.HOOK, '/services/T0/B0/xyzxyz', 'shared-secret']));
    expect(variables).toEqual(['HOOK', 'SIGN']);
  });

  it.each([
    [{ url: '$NOT_SET' }, 'error notifications.url entry 1 `url` must not be empty: $NOT_SET is not set'],
    [{ url: 'hooks.slack.com/x' }, 'error notifications.url entry 1 `url` must be an address that begins with https://'],
    [{ url: 'ftp://host/x' }, 'error notifications.url entry 1 `url` must be an address that begins with https://'],
    [{ url: '$HOOK', secret: '$NOT_SET' }, 'error notifications.secret entry 1 `secret` must not be empty: $NOT_SET is not set'],
    [{ url: 'http://example.org/x' }, expect.stringMatching(/^warning notifications\.url\.unencrypted .*https:/) as string],
  ])('%j is told', (keys, problem) => {
    expect(told(keys)).toEqual([problem]);
  });

  it('an address that would be told the same twice is an error', () => {
    expect(told({ url: '$HOOK', on: ['handoff', 'merged'] }, { url: '$HOOK', on: ['merged', 'down'] })).toEqual([
      'error notifications.url entry 2 `url` is the address of entry 1 too, so merged would be told twice',
    ]);
  });
});
