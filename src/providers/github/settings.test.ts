import { describe, expect, it } from 'vitest';
import { trackerSettings } from '../../../test/fakes/github/connect.ts';
import { startServer } from '../../../test/support/http-server.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import { provider } from './index.ts';
import { readSettings } from './settings.ts';

const quiet = (): void => undefined;
const deps = {
  version: '1.2.3',
  workflowDir: '/',
  clock: { now: () => 0 },
  logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
};

function refusalOf(settings: Partial<TrackerSettings>): TrackerError {
  try {
    provider.createTracker(trackerSettings(settings), deps);
  } catch (error) {
    if (error instanceof TrackerError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('construction', () => {
  it.each<[string, Partial<TrackerSettings>, TrackerErrorKind]>([
    ['project without a slash', { project: 'widgets' }, 'tracker_payload_error'],
    ['project with two slashes', { project: 'acme/widgets/more' }, 'tracker_payload_error'],
    ['project without an owner', { project: '/widgets' }, 'tracker_payload_error'],
    ['project without a repository', { project: 'acme/' }, 'tracker_payload_error'],
    ['project with a blank part', { project: 'acme/ ' }, 'tracker_payload_error'],
    ['project with white space in a part', { project: 'acme/wid gets' }, 'tracker_payload_error'],
    ['project with a part that an address drops', { project: 'acme/..' }, 'tracker_payload_error'],
    ['empty project', { project: '' }, 'tracker_payload_error'],
    ['query_filter with repo:', { queryFilter: 'label:x repo:other/one' }, 'tracker_payload_error'],
    ['query_filter with type:issue', { queryFilter: 'Type:Issue label:x' }, 'tracker_payload_error'],
    ['endpoint that is no address', { endpoint: 'api.example.com' }, 'tracker_payload_error'],
    ['endpoint without a host', { endpoint: 'https://:8080' }, 'tracker_payload_error'],
    ['empty key', { apiKey: ' ' }, 'tracker_auth_error'],
  ])('refuses %s', (_, settings, kind) => {
    const error = refusalOf(settings);
    expect(error.kind).toBe(kind);
    expect(error.message).toMatch(/^tracker: tracker_\w+: construct repoissues: tracker\./);
  });

  it('shows neither the key nor a password of the address', () => {
    const error = refusalOf({ endpoint: 'https://me:hush@host?x', apiKey: 'hush-hush' });
    expect(error.message).not.toContain('hush');
  });

  it('makes no request', async () => {
    const server = await startServer();
    provider.createTracker(trackerSettings({ endpoint: server.url }), deps);
    await server.close();
    expect(server.requests).toEqual([]);
  });

  it('gives a tracker with all capabilities', () => {
    const tracker = provider.createTracker(trackerSettings(), deps);
    expect(tracker.kind).toBe('repoissues');
    expect([tracker.labels, tracker.blockers, tracker.preflight].every(Boolean)).toBe(true);
  });
});

describe('settings', () => {
  it.each([
    ['', 'https://api.github.com'],
    ['https://forge.example/api/v3///', 'https://forge.example/api/v3'],
  ])('take the endpoint %j as %s', (endpoint, expected) => {
    expect(readSettings(trackerSettings({ endpoint })).access.baseUrl).toBe(expected);
  });

  it.each([
    [null, 'svc/dev'],
    ['', 'svc/dev'],
    ['me/1', 'me/1'],
  ])('take the user agent %j as %s', (userAgent, expected) => {
    expect(readSettings(trackerSettings({ userAgent })).access.userAgent).toBe(expected);
  });

  it('keep state names in lower case, without blanks and repetitions', () => {
    const { states, queryFilter } = readSettings(
      trackerSettings({
        activeStates: ['Backlog', ' backlog ', ''],
        terminalStates: ['DONE'],
        handoffState: 'Needs-Review',
        noChangeState: 'No-Change',
        queryFilter: ' label:x ',
      }),
    );
    expect(states).toEqual({ active: ['backlog'], terminal: ['done'], parking: ['needs-review', 'no-change'] });
    expect(queryFilter).toBe('label:x');
  });
});

describe('the provider', () => {
  it('declares what the kind is', () => {
    expect(provider).toMatchObject({
      kind: 'repoissues',
      aliases: ['github'],
      requires: { apiKey: true, project: true, endpoint: false },
      expansion: { endpoint: 'whole', apiKey: 'anywhere', project: 'anywhere' },
      defaults: {
        endpoint: 'https://api.github.com',
        activeStates: ['backlog', 'in-progress', 'review'],
        terminalStates: ['done', 'wontfix'],
        activeStatesGateDispatch: true,
      },
    });
  });

  it('has no options of its own', () => {
    expect(provider.options.safeParse({}).success).toBe(true);
    expect(provider.options.safeParse({ colour: 'red' }).success).toBe(false);
  });
});
