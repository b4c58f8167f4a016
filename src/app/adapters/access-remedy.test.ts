import { expect, it } from 'vitest';
import { TrackerError, type TrackerErrorKind } from '../../domain/model/errors.ts';
import { accessRemedy } from './access-remedy.ts';

const of = (kind: TrackerErrorKind, more: { status?: number; retryAfterMs?: number; detail?: string } = {}): TrackerError =>
  new TrackerError({ kind, method: 'GET', path: '/', detail: 'no', ...more });

it.each([
  [of('tracker_auth_error', { status: 401 }), 'see the message: the address, the token and its scopes, the project'],
  [of('tracker_auth_error', { status: 500 }), 'see the message: the address, the token and its scopes, the project'],
  [of('tracker_api_error', { status: 429 }), 'the tracker limits requests: ask again when the time is over'],
  [of('tracker_api_error', { status: 403, retryAfterMs: 9 }), 'the tracker limits requests: ask again when the time is over'],
  [of('tracker_api_error', { status: 410 }), 'see the message: the address, the token and its scopes, the project'],
  [of('tracker_api_error', { status: 451 }), 'see the message: the address, the token and its scopes, the project'],
  [of('tracker_api_error', { status: 418 }), 'ask again later'],
  [of('tracker_transport_error', { status: 502 }), 'the tracker has trouble of its own: ask again later'],
  [of('tracker_transport_error', { detail: 'the answer is longer than 9 bytes' }), /^issues or comments with very long texts/],
  [
    of('tracker_api_error', { status: 302, detail: 'redirected to another origin (https://new.example), not followed' }),
    'check tracker.endpoint: that address leads somewhere else',
  ],
  [of('tracker_transport_error'), 'check tracker.endpoint and the network, then ask again'],
  [
    new TrackerError({ kind: 'tracker_payload_error', method: 'READ', path: '/i.json', detail: 'no', isOfFile: true }),
    'see the message: the file or folder of file.path',
  ],
  [new Error('something else'), 'see the message: the address, the token and its scopes, the project'],
])('%s: %s', (error, remedy) => {
  if (remedy instanceof RegExp) expect(accessRemedy(error)).toMatch(remedy);
  else expect(accessRemedy(error)).toBe(remedy);
});
