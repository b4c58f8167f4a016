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

it('does not steer a terminal by what a remote says', () => {
  const said = 'bad \u001B]0;title\u0007\u001B[31m\u009B31m\u202Eback\r\nlevel=ERROR msg=forged';
  tellFailure(new TrackerError({ kind: 'tracker_auth_error', method: 'GET', path: '/', detail: said }), false);
  expect(told).toBe('foray: tracker: tracker_auth_error: GET /: bad  ]0;title [31m 31m back level=ERROR msg=forged\n');
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
