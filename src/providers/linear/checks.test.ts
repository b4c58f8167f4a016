import { describe, expect, it } from 'vitest';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import { check } from './checks.ts';
import { provider } from './index.ts';

const GOOD: ProviderCheckInput = {
  apiKey: 'lin_api_0123456789',
  project: 'ENG',
  endpoint: null,
  activeStates: null,
  terminalStates: null,
  handoffState: 'In Review',
  inProgressState: null,
  queryFilter: null,
  options: {},
  env: {},
};

const found = (changes: Partial<ProviderCheckInput>) =>
  check({ ...GOOD, ...changes }).map(({ severity, check }) => `${severity} ${check}`);

describe('linear offline checks', () => {
  it.each<[string, Partial<ProviderCheckInput>]>([
    ['as it is', {}],
    ['with an empty endpoint', { endpoint: '' }],
    ['with an endpoint that has a port and a query', { endpoint: 'http://127.0.0.1:8080/graphql?tenant=a' }],
    ['with empty lists', { activeStates: [], terminalStates: [] }],
    ['with an object for a filter', { queryFilter: ' {"labels": {"some": {"name": {"eq": "agent"}}}} ' }],
    ['without a key and without the variable', { apiKey: null }],
  ])('a good file gives nothing: %s', (_, changes) => {
    expect(found(changes)).toEqual([]);
  });

  it.each<[string, Partial<ProviderCheckInput>]>([
    ['error tracker.endpoint.invalid', { endpoint: 'api.linear.app/graphql' }],
    ['error tracker.endpoint.invalid', { endpoint: 'ftp://h/graphql' }],
    ['error tracker.endpoint.invalid', { endpoint: 'https://' }],
    ['error tracker.endpoint.invalid', { endpoint: 'https://?x' }],
    ['error tracker.endpoint.invalid', { endpoint: ' ' }],
    ['error tracker.project.format', { project: 'EN G' }],
    ['error tracker.project.format', { project: 'ENG\n' }],
    ['warning tracker.project.slash', { project: 'acme/app' }],
    ['error tracker.active_states.invalid_element', { activeStates: ['Todo', ''] }],
    ['error tracker.active_states.invalid_element', { activeStates: ['Todo', '  '] }],
    ['error tracker.active_states.invalid_element', { activeStates: [' Todo'] }],
    ['error tracker.terminal_states.invalid_element', { terminalStates: ['Done', ''] }],
    ['error tracker.terminal_states.invalid_element', { terminalStates: ['Done '] }],
    ['error tracker.handoff_state.invalid', { handoffState: ' In Review' }],
    ['error tracker.in_progress_state.invalid', { inProgressState: ' Todo ' }],
    ['error tracker.no_change_state.invalid', { noChangeState: 'Done ' }],
    ['error tracker.states.overlap', { activeStates: ['Todo', 'done', 'DONE'] }],
    ['error tracker.states.overlap', { terminalStates: ['todo'] }],
    ['error tracker.query_filter.invalid', { queryFilter: 'labels=a' }],
    ['error tracker.query_filter.invalid', { queryFilter: '[]' }],
    ['error tracker.query_filter.invalid', { queryFilter: '{"team": {}}' }],
    ['warning tracker.api_key.format', { apiKey: 'Bearer lin_api_0123' }],
    ['warning tracker.api_key.format', { apiKey: 'lin_oauth_0123' }],
    ['warning tracker.api_key.format', { apiKey: ' lin_api_0123' }],
    ['warning tracker.api_key.format', { apiKey: '0123\n' }],
    ['warning tracker.api_key.token_hint', { apiKey: '', env: { LINEAR_API_KEY: 'x' } }],
    ['warning tracker.api_key.token_hint', { apiKey: null, env: { LINEAR_API_KEY: 'x' } }],
  ])('%s', (expected, changes) => {
    expect(found(changes)).toEqual([expected]);
  });

  it('reports everything in the documented order', () => {
    const all = found({
      endpoint: 'nowhere',
      project: 'acme/ app',
      activeStates: [' Done'],
      terminalStates: ['Done', ''],
      queryFilter: 'x',
      apiKey: 'abc',
    });
    expect(all).toEqual([
      'error tracker.endpoint.invalid',
      'error tracker.project.format',
      'warning tracker.project.slash',
      'error tracker.active_states.invalid_element',
      'error tracker.terminal_states.invalid_element',
      'error tracker.states.overlap',
      'error tracker.query_filter.invalid',
      'warning tracker.api_key.format',
    ]);
  });

  it('points at the key and the entry', () => {
    const keyOf = (changes: Partial<ProviderCheckInput>) => check({ ...GOOD, ...changes })[0]?.key;
    expect(keyOf({ terminalStates: ['Done', ' '] })).toEqual(['tracker', 'terminal_states', 1]);
    expect(keyOf({ queryFilter: '1' })).toEqual(['tracker', 'query_filter']);
    expect(keyOf({ project: 'a b' })).toEqual(['tracker', 'project']);
    expect(keyOf({ activeStates: ['Done'] })).toEqual(['tracker', 'active_states']);
    expect(keyOf({ activeStates: ['Done'], terminalStates: ['Done'] })).toEqual(['tracker', 'terminal_states']);
  });

  it('shows neither a key, nor the value of a variable, nor a password', () => {
    const shown = check({
      ...GOOD,
      apiKey: 'sk-secret-1',
      endpoint: 'https://user:pa55word@/x',
      env: { LINEAR_API_KEY: 'secret-2' },
    });
    const hint = check({ ...GOOD, apiKey: '', env: { LINEAR_API_KEY: 'secret-2' } });
    const text = [...shown, ...hint].map(({ message }) => message).join('\n');
    expect(text).toContain('$LINEAR_API_KEY');
    for (const secret of ['secret-1', 'secret-2', 'pa55word']) expect(text).not.toContain(secret);
  });
});

describe('linear provider', () => {
  it('answers to the vendor’s name, needs key and project, and expands only the key', () => {
    expect(provider).toMatchObject({
      kind: 'graphql',
      aliases: ['linear'],
      requires: { apiKey: true, project: true, endpoint: false },
      expansion: { endpoint: 'none', apiKey: 'anywhere', project: 'none' },
      defaults: {
        endpoint: 'https://api.linear.app/graphql',
        activeStates: ['Backlog', 'Todo', 'In Progress'],
        terminalStates: ['Done', 'Canceled', 'Duplicate'],
      },
    });
  });
});
