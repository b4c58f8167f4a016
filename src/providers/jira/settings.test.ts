import { describe, expect, it } from 'vitest';
import { settingsFor } from '../../../test/fakes/jira/connect.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import { provider } from './index.ts';
import { parseKey, readSettings } from './settings.ts';

const remote = { url: 'https://acme.test', apiKey: 'me@acme.test:tok', project: 'ABC' };

function faultOf(changes: Partial<TrackerSettings>): TrackerError {
  try {
    readSettings(settingsFor(remote, changes));
  } catch (error) {
    if (error instanceof TrackerError) return error;
    throw error;
  }
  throw new Error('expected a TrackerError');
}

describe('configuration table', () => {
  it.each([
    ['me@acme.test:tok', { email: 'me@acme.test', token: 'tok' }],
    ['me@acme.test:tok:with:colons', { email: 'me@acme.test', token: 'tok:with:colons' }],
    [' me@acme.test:tok\n', { email: 'me@acme.test', token: 'tok' }],
    ['tok', undefined],
    ['', undefined],
    [':tok', undefined],
    ['me@acme.test:', undefined],
    ['me@acme.test: ', undefined],
    [':', undefined],
  ])('api_key %j splits at the first colon: %j', (apiKey, expected) => {
    expect(parseKey(apiKey)).toEqual(expected);
    if (!expected) expect(faultOf({ apiKey })).toMatchObject({ kind: 'tracker_auth_error', retryable: false });
  });

  it('api_key is not shown when it is wrong', () => {
    expect(faultOf({ apiKey: 'very-secret' }).message).toBe(
      'tracker: tracker_auth_error: construct wfboard: tracker.api_key is not of the form <email>:<token>, both sides non-empty',
    );
  });

  it.each(['', ' '])('project %j is missing_tracker_project', (project) => {
    expect(faultOf({ project })).toMatchObject({ kind: 'missing_tracker_project', retryable: false });
  });

  it.each([
    'https://acme.test/rest/api/3',
    'https://acme.test/rest/api/',
    'https://acme.test/rest/api',
    '',
    'acme.test',
    'ftp://acme.test',
  ])('endpoint %j is tracker_payload_error', (endpoint) => {
    expect(faultOf({ endpoint })).toMatchObject({ kind: 'tracker_payload_error', retryable: false });
  });

  it('endpoint says what is wrong without its password', () => {
    const { message } = faultOf({ endpoint: 'https://me:hush@acme.test/rest/api/3' });
    expect(message).toContain('contains /rest/api/');
    expect(message).not.toContain('hush');
  });

  it('endpoint loses trailing slashes', () => {
    expect(readSettings(settingsFor(remote, { endpoint: 'https://acme.test//' })).access.baseUrl).toBe('https://acme.test');
  });

  it.each([
    [null, 'svc/dev'],
    ['', 'svc/dev'],
    ['acme-bot/2', 'acme-bot/2'],
  ])('user_agent %j is sent as %s', (userAgent, expected) => {
    expect(readSettings(settingsFor(remote, { userAgent })).access.userAgent).toBe(expected);
  });

  it('states have the documented defaults', () => {
    expect(provider.defaults).toEqual({
      endpoint: '',
      activeStates: ['Backlog', 'Selected for Development', 'In Progress'],
      terminalStates: [],
      activeStatesGateDispatch: true,
    });
  });

  it('references are replaced in a whole endpoint, anywhere in the key and not in the project', () => {
    expect(provider.expansion).toEqual({ endpoint: 'whole', apiKey: 'anywhere', project: 'none' });
  });

  it('endpoint, api_key and project are required; the vendor’s name is an alias', () => {
    expect(provider).toMatchObject({
      kind: 'wfboard',
      aliases: ['jira'],
      requires: { apiKey: true, project: true, endpoint: true },
    });
  });

  it('the top-level block has no options of its own', () => {
    expect(provider.options.safeParse({}).success).toBe(true);
    expect(provider.options.safeParse({ x: 1 }).success).toBe(false);
  });
});
