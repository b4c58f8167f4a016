import { expect, it } from 'vitest';
import { isTrackerErrorKind, TRACKER_ERROR_RETRYABLE } from './errors.ts';
import { remedyFor, remedyForRun } from './remedies.ts';

it.each(Object.keys(TRACKER_ERROR_RETRYABLE).filter(isTrackerErrorKind))('%s has a remedy', (kind) => {
  expect(remedyFor(kind, '')).toEqual(expect.any(String));
});

it.each([
  ['attempt 1 follows: workspace: hook before_run: exit status 1: boom', 'mend hooks.before_run of the workflow file'],
  ['workspace: hook after_create: timed out after 500 ms, see hooks.timeout_ms', 'mend hooks.after_create of the workflow file'],
  ['agent: agent_not_logged_in: the credentials were not accepted', 'log the program in as the user of the service'],
  [
    "agent: agent_exited: codex ended with exit code 2: error: unrecognized subcommand 'app-server'",
    /a newer version of the program/,
  ],
  ['tracker: tracker_auth_error: GET /user: status 401', /renew the token/],
  [
    'tracker: tracker_transport_error: READ /x/issues.json: there is no such file',
    'it is read again at every poll; foray doctor tells more',
  ],
  ['template: line 3, column 9: index 5 is out of range', /correct the prompt/],
  ["workspace: prepare: ENOENT: no such file or directory, mkdir '/proc/x'", /workspace\.root/],
  ["workspace: fetch: fatal: '/nowhere/repo.git' does not appear to be a git repository", /workspace\.repo/],
  ['workspace: fetch: Host key verification failed. | fatal: Could not read from remote repository.', /known_hosts/],
  ['workspace: fetch: sh: 1: ssh: not found | fatal: Could not read from remote repository.', /install an SSH client/],
  ['agent: turn_failed: it said so', null],
  ['some other words', null],
])('what ended a run with "%s" has its remedy', (error, remedy) => {
  if (remedy instanceof RegExp) expect(remedyForRun(error)).toMatch(remedy);
  else expect(remedyForRun(error)).toBe(remedy);
});

it('an address that leads elsewhere is not mended by waiting', () => {
  const error = 'tracker: tracker_api_error: GET /x: redirected to another origin (https://new.example), not followed';
  expect(remedyFor('tracker_api_error', error)).toMatch(/^check tracker\.endpoint/);
});

it('texts that are too long are not a matter of the network', () => {
  const error = 'tracker: tracker_transport_error: GET /issues: the answer is longer than 134217728 bytes';
  expect(remedyFor('tracker_transport_error', error)).toMatch(/^issues or comments with very long texts: /);
});

it('names that every object has are no kinds', () => {
  expect(remedyForRun('tracker: constructor: x')).toBeNull();
  expect(remedyForRun('agent: constructor: x')).toBeNull();
});
