import { describe, expect, it } from 'vitest';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import { provider } from './index.ts';

const GOOD: ProviderCheckInput = {
  apiKey: 'me@acme.test:tok',
  project: 'ABC',
  endpoint: 'https://acme.test',
  activeStates: null,
  terminalStates: null,
  handoffState: null,
  inProgressState: null,
  queryFilter: null,
  options: {},
  env: {},
};

function found(changes: Partial<ProviderCheckInput>): readonly string[] {
  return provider.check({ ...GOOD, ...changes }).map(({ severity, check }) => `${severity} ${check}`);
}

describe('offline checks', () => {
  it.each<[string, Partial<ProviderCheckInput>, readonly string[]]>([
    ['nothing wrong', {}, []],
    ['nothing written: reported before', { apiKey: null, project: null, endpoint: null }, []],
    ['empty key: reported before', { apiKey: ' ' }, []],
    ['trailing slash', { endpoint: 'https://acme.test/' }, []],
    ['endpoint with the API path', { endpoint: 'https://acme.test/rest/api/3' }, ['error tracker.endpoint.invalid']],
    ['endpoint that is none', { endpoint: 'acme.test' }, ['error tracker.endpoint.invalid']],
    ['endpoint over http', { endpoint: 'http://acme.test' }, ['warning tracker.endpoint.insecure']],
    ['key without a colon', { apiKey: 'tok' }, ['error tracker.api_key.format']],
    ['key without an e-mail address', { apiKey: ':tok' }, ['error tracker.api_key.format']],
    ['key without a token', { apiKey: 'me@acme.test:' }, ['error tracker.api_key.format']],
    ['blank project', { project: '  ' }, ['error tracker.project.format']],
    ['any filter: not validated', { queryFilter: 'labels = x OR )' }, []],
    ['overlap', { activeStates: ['Done', 'Open'], terminalStates: ['done'] }, ['warning tracker.states.overlap']],
    ['overlap with the defaults', { terminalStates: ['backlog'] }, ['warning tracker.states.overlap']],
  ])('%s', (_, changes, expected) => {
    expect(found(changes)).toEqual(expected);
  });

  it('errors come first, in the order of the keys', () => {
    const everything = { endpoint: 'http://acme.test/rest/api/3', apiKey: 'tok', project: ' ' };
    expect(found(everything)).toEqual([
      'error tracker.endpoint.invalid',
      'error tracker.api_key.format',
      'error tracker.project.format',
    ]);
  });

  it('the key is never shown, and every problem names its place', () => {
    for (const problem of provider.check({ ...GOOD, apiKey: 'hush-hush', endpoint: 'http://me:hush-hush@acme.test' })) {
      expect(problem.message).not.toContain('hush-hush');
      expect(problem.key?.[0]).toBe('tracker');
    }
  });
});
