import { expect, it } from 'vitest';
import { TrackerError, type TrackerErrorKind } from '../../domain/model/errors.ts';
import { accessRemedy } from './access-remedy.ts';

const of = (kind: TrackerErrorKind, more: { status?: number; retryAfterMs?: number } = {}): TrackerError =>
  new TrackerError({ kind, method: 'GET', path: '/', detail: 'no', ...more });

it.each([
  [of('tracker_auth_error', { status: 401 }), 'see the message: the address, the token and its scopes, the project'],
  [of('tracker_auth_error', { status: 500 }), 'see the message: the address, the token and its scopes, the project'],
  [of('tracker_api_error', { status: 429 }), 'the tracker limits requests: ask again when the time is over'],
  [of('tracker_api_error', { status: 403, retryAfterMs: 9 }), 'the tracker limits requests: ask again when the time is over'],
  [of('tracker_api_error', { status: 418 }), 'ask again later'],
  [of('tracker_transport_error', { status: 502 }), 'the tracker has trouble of its own: ask again later'],
  [of('tracker_transport_error'), 'check tracker.endpoint and the network, then ask again'],
  [
    new TrackerError({ kind: 'tracker_payload_error', method: 'READ', path: '/i.json', detail: 'no', isOfFile: true }),
    'see the message: the file or folder of file.path',
  ],
  [new Error('something else'), 'see the message: the address, the token and its scopes, the project'],
])('%s: %s', (error, remedy) => {
  expect(accessRemedy(error)).toBe(remedy);
});
