import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import type { HttpResponse } from '../../lib/http/index.ts';
import { classifyErrors, SIGNALS } from './errors.ts';

function answer(body: unknown, status = 200): HttpResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const json = (): unknown => JSON.parse(text);
  return { status, headers: new Headers(), url: 'https://h/graphql', path: '/graphql', body: text, truncated: false, json };
}

const classify = (error: unknown, status?: number) => classifyErrors(answer({ data: null, errors: [error] }, status), []);

const ROWS: readonly [row: number, error: object, kind: TrackerErrorKind, retryable: boolean | undefined][] = [
  [0, { message: 'Entity not found: Issue', extensions: { type: 'invalid input' } }, 'tracker_not_found', false],
  [0, { message: 'ENTITY NOT FOUND in validateAccess', extensions: { code: 'RATELIMITED' } }, 'tracker_not_found', false],
  [1, { message: 'x', extensions: { code: 'RATELIMITED', type: 'invalid input' } }, 'tracker_api_error', true],
  [1, { message: 'x', extensions: { type: 'ratelimited', userError: true } }, 'tracker_api_error', true],
  [2, { message: 'x', extensions: { type: 'authentication error', userError: true } }, 'tracker_auth_error', false],
  [3, { message: 'x', extensions: { type: 'forbidden', userError: true } }, 'tracker_auth_error', false],
  [3, { message: 'x', extensions: { type: 'feature not accessible' } }, 'tracker_auth_error', false],
  [4, { message: 'x', extensions: { type: 'invalid input' } }, 'tracker_payload_error', false],
  [4, { message: 'x', extensions: { type: 'user error' } }, 'tracker_payload_error', false],
  [4, { message: 'x', extensions: { type: 'graphql error' } }, 'tracker_payload_error', false],
  [4, { message: 'x', extensions: { userError: true } }, 'tracker_payload_error', false],
  [4, { message: 'x', extensions: { type: 'internal error', userError: true } }, 'tracker_payload_error', false],
  [5, { message: 'x', extensions: { type: 'internal error' } }, 'tracker_transport_error', true],
  [5, { message: 'x', extensions: { type: 'network error' } }, 'tracker_transport_error', true],
  [5, { message: 'x', extensions: { type: 'lock timeout' } }, 'tracker_transport_error', true],
  [5, { message: 'x', extensions: { type: 'bootstrap error' } }, 'tracker_transport_error', true],
  [6, { message: 'x', extensions: { type: 'usage limit exceeded' } }, 'tracker_api_error', undefined],
  [6, { message: 'x', extensions: { code: 'FORBIDDEN' } }, 'tracker_api_error', undefined],
  [6, { message: 'not: entity not found' }, 'tracker_api_error', undefined],
  [6, {}, 'tracker_api_error', undefined],
];

describe('linear error table', () => {
  it.each(ROWS.map(([row, ...rest]) => [SIGNALS[row]?.signal ?? '', ...rest] as const))(
    '%s: %j gives %s',
    (_, error, kind, retryable) => {
      for (const status of [200, 400, 500]) {
        const found = classify(error, status);
        expect([found?.kind, found?.retryable]).toEqual([kind, retryable]);
      }
    },
  );

  it('walks every row', () => {
    expect(new Set(ROWS.map(([row]) => row)).size).toBe(SIGNALS.length);
  });

  it('the first error decides, with data beside it or not', () => {
    const errors = [{ message: 'a', extensions: { type: 'forbidden' } }, { message: 'Entity not found' }];
    expect(classifyErrors(answer({ data: { viewer: { id: '1' } }, errors }), [])).toMatchObject({
      kind: 'tracker_auth_error',
      detail: 'a',
    });
  });

  it.each<[string, unknown]>([
    ['no errors', { data: {} }],
    ['an empty list of errors', { data: {}, errors: [] }],
    ['errors that are no list', { errors: { message: 'x' } }],
    ['no JSON', '<html>'],
    ['an empty body', ''],
    ['null', null],
  ])('%s is left to the status', (_, body) => {
    expect(classifyErrors(answer(body, 500), [])).toBeUndefined();
  });
});

describe('linear error text', () => {
  it.each<[string, object, string]>([
    ['the user-presentable message', { message: 'dev', extensions: { userPresentableMessage: 'Say this.' } }, 'Say this.'],
    ['else the message', { message: 'dev', extensions: { userPresentableMessage: ' ' } }, 'dev'],
    ['on one line', { message: 'a\r\n\tb\u0000c' }, 'a b c'],
    ['else the status', { message: '' }, 'status 200: an error without a message'],
  ])('is %s', (_, error, detail) => {
    expect(classify(error)?.detail).toBe(detail);
  });

  it('is cut, and never holds the key, not even in half', () => {
    const key = 'lin_api_0123456789';
    const error = { message: `${'x'.repeat(500)} ${key} ${'y'.repeat(500)}` };
    const detail = classifyErrors(answer({ errors: [error] }), [key])?.detail ?? '';
    expect(detail).not.toContain('lin_api_');
    expect(detail).toHaveLength(512);
  });

  it('is found quickly in a message of megabytes', () => {
    const error = { message: 'x'.repeat(4 * 1024 * 1024) };
    expect(classify(error)?.detail).toBe('x'.repeat(512));
  });

  it('no body makes it throw', () => {
    const entry = fc.record({ message: fc.anything(), extensions: fc.anything() }, { requiredKeys: [] });
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.jsonValue(), fc.record({ errors: fc.array(fc.oneof(entry, fc.anything())) })),
        (body) => {
          const found = classifyErrors(answer(JSON.stringify(body) ?? '', 200), []);
          if (found) expect(found.detail).not.toBe('');
        },
      ),
    );
  });
});
