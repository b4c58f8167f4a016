import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { TrackerError } from '../domain/model/errors.ts';
import { tellFailure } from './failure.ts';

let told = '';
beforeEach(() => {
  told = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    told += String(text);
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

const away = new TrackerError({ kind: 'tracker_transport_error', method: 'GET', path: '/', detail: 'status 502', status: 502 });
const refused = new TrackerError({ kind: 'tracker_auth_error', method: 'GET', path: '/', detail: 'check tracker.api_key' });

it('is a line for people, with what to do where the message does not say it', () => {
  tellFailure(away, false);
  tellFailure(refused, false);
  expect(told).toBe(
    'foray: tracker: tracker_transport_error: GET /: status 502; the tracker has trouble of its own: ask again later\n' +
      'foray: tracker: tracker_auth_error: GET /: check tracker.api_key\n',
  );
});

it('is a record for programs that asked for JSON', () => {
  tellFailure(away, true);
  expect(JSON.parse(told)).toMatchObject({
    level: 'ERROR',
    msg: 'foray failed',
    error: 'tracker: tracker_transport_error: GET /: status 502',
    remedy: 'the tracker has trouble of its own: ask again later',
  });
});
