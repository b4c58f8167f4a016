import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { depsWith, trackerSettings } from '../../../test/fakes/gitlab/connect.ts';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import { provider } from './index.ts';
import { apiAddress, readSettings } from './settings.ts';

describe('the provider', () => {
  it('declares what the kind needs and defaults to', () => {
    expect(provider).toMatchObject({
      kind: 'nsproject',
      aliases: ['gitlab'],
      requires: { apiKey: true, project: true, endpoint: false },
      expansion: { endpoint: 'anywhere', apiKey: 'anywhere', project: 'anywhere' },
      defaults: {
        endpoint: 'https://gitlab.com',
        activeStates: ['backlog', 'in-progress', 'review'],
        terminalStates: ['done', 'wontfix'],
        activeStatesGateDispatch: false,
      },
    });
    expect(provider.options.safeParse({}).success).toBe(true);
    expect(provider.options.safeParse({ nonsense: 1 }).success).toBe(false);
  });

  it('builds a tracker without a request', () => {
    expect(provider.createTracker(trackerSettings(), depsWith().deps).kind).toBe('nsproject');
  });
});

describe('endpoint', () => {
  it.each([
    ['', 'https://gitlab.com/api/v4'],
    ['https://gitlab.example.com', 'https://gitlab.example.com/api/v4'],
    ['https://gitlab.example.com///', 'https://gitlab.example.com/api/v4'],
    ['https://gitlab.example.com/api/v4', 'https://gitlab.example.com/api/v4'],
    ['https://gitlab.example.com/api/v4/', 'https://gitlab.example.com/api/v4'],
    ['http://host:8080/gitlab', 'http://host:8080/gitlab/api/v4'],
    ['http://[::1]:8080', 'http://[::1]:8080/api/v4'],
  ])('%j becomes %s', (endpoint, address) => {
    expect(apiAddress(endpoint)).toBe(address);
  });
});

describe('faults at construction', () => {
  it.each<[row: string, over: Partial<TrackerSettings>, kind: TrackerErrorKind]>([
    ['empty key', { apiKey: ' ' }, 'tracker_auth_error'],
    ['no project', { project: '' }, 'missing_tracker_project'],
    ['pre-encoded project', { project: 'acme%2Frocket' }, 'tracker_payload_error'],
    ['bare name', { project: 'rocket' }, 'tracker_payload_error'],
    ['broken character', { project: 'acme/\ud800' }, 'tracker_payload_error'],
    ['relative endpoint', { endpoint: 'gitlab.example.com' }, 'tracker_payload_error'],
    ['endpoint with a query', { endpoint: 'https://host/?a=b' }, 'tracker_payload_error'],
    ['port-only authority', { endpoint: 'https://:8443' }, 'tracker_payload_error'],
    ['bare IPv6 host', { endpoint: 'https://::1' }, 'tracker_payload_error'],
    ['reserved filter key', { queryFilter: 'state=all' }, 'tracker_payload_error'],
  ])('%s', (_, over, kind) => {
    expect(failure(over)).toMatchObject({ kind, retryable: false });
  });

  it('nothing but a TrackerError is ever thrown', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (project, endpoint, queryFilter) => {
        expect(failure({ project, endpoint, queryFilter }) ?? null).toSatisfy(
          (error: unknown) => error === null || error instanceof TrackerError,
        );
      }),
    );
  });
});

describe('states', () => {
  it('empty lists derive by the defaults', () => {
    const { states } = readSettings(trackerSettings({ activeStates: [], terminalStates: [' '], handoffState: null }));
    expect(states).toEqual({ active: ['backlog', 'in-progress', 'review'], terminal: ['done', 'wontfix'], handoff: null });
  });
});

function failure(over: Partial<TrackerSettings>): unknown {
  try {
    provider.createTracker(trackerSettings(over), depsWith().deps);
    return undefined;
  } catch (error) {
    return error;
  }
}
