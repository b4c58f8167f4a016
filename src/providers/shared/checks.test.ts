import { describe, expect, it } from 'vitest';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { loadProviders } from '../registry.ts';

const PROVIDERS = await loadProviders();

const INPUT: ProviderCheckInput = {
  apiKey: 'key',
  project: null,
  endpoint: null,
  activeStates: ['todo'],
  terminalStates: ['done'],
  handoffState: null,
  inProgressState: null,
  queryFilter: null,
  options: {},
  env: {},
};

describe('a check that stands for an error kind names it', () => {
  it.each<[string, Partial<ProviderCheckInput>, string, string]>([
    ['wfboard', { apiKey: 'no-colon' }, 'tracker.api_key.format', 'tracker_auth_error'],
    ['wfboard', { endpoint: 'https://a.test/rest/api/3', apiKey: 'a:b' }, 'tracker.endpoint.invalid', 'tracker_payload_error'],
    ['wfboard', { project: ' ', apiKey: 'a:b' }, 'tracker.project.format', 'missing_tracker_project'],
    ['selfhosted', { queryFilter: 'page=1' }, 'tracker.query_filter.invalid', 'tracker_payload_error'],
    ['graphql', { queryFilter: '[]' }, 'tracker.query_filter.invalid', 'tracker_payload_error'],
    ['nsproject', { queryFilter: 'page=1' }, 'tracker.query_filter.invalid', 'tracker_payload_error'],
    ['nsproject', { endpoint: 'https://::1' }, 'tracker.endpoint.invalid', 'tracker_payload_error'],
    ['repoissues', { project: 'a' }, 'tracker.project.format', 'tracker_payload_error'],
  ])('%s %j', (kind, changes, check, error) => {
    const provider = PROVIDERS.find((one) => one.kind === kind);
    const found = provider?.check({ ...INPUT, ...changes }).find((problem) => problem.check === check);
    expect(found?.message).toMatch(new RegExp(`^${error}: tracker\\.`));
  });
});

describe('a key with blanks around it', () => {
  it.each(['nsproject', 'selfhosted', 'graphql'])('%s: is refused as one that cannot authenticate', (kind) => {
    const provider = PROVIDERS.find((one) => one.kind === kind);
    const written = {
      kind,
      apiKey: ' key',
      project: 'a/b',
      endpoint: 'https://forge.test',
      activeStates: ['todo'],
      terminalStates: ['done'],
    };
    const settings = settingsWith({ tracker: written }).tracker;
    const quiet = (): void => undefined;
    const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    const deps = { version: '1', workflowDir: '/', clock: { now: () => 0 }, logger };
    expect(() => provider?.createTracker(settings, deps)).toThrow(/^tracker: tracker_auth_error: .*white space around it/);
  });
});
