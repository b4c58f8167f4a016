import { describe, expect, it } from 'vitest';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import { check } from './checks.ts';
import { provider } from './index.ts';

const GOOD: ProviderCheckInput = {
  apiKey: '0123456789abcdef0123456789abcdef01234567',
  project: 'acme/app',
  endpoint: 'https://git.example.org',
  activeStates: ['todo'],
  terminalStates: ['done'],
  handoffState: 'review',
  inProgressState: null,
  queryFilter: null,
  options: {},
  env: {},
};

const found = (changes: Partial<ProviderCheckInput>) =>
  check({ ...GOOD, ...changes }).map(({ severity, check }) => `${severity} ${check}`);

describe('gitea offline checks', () => {
  it('a good file gives nothing', () => {
    expect(found({})).toEqual([]);
  });

  it.each<[string, Partial<ProviderCheckInput>]>([
    ['error tracker.endpoint.invalid', { endpoint: 'git.example.org' }],
    ['error tracker.endpoint.invalid', { endpoint: 'https://user:pw@' }],
    ['error tracker.project.format', { project: 'acme' }],
    ['error tracker.project.format', { project: 'acme/app/x' }],
    ['error tracker.active_states', { activeStates: null }],
    ['error tracker.active_states.empty_element', { activeStates: ['todo', ' '] }],
    ['error tracker.terminal_states.empty', { terminalStates: null }],
    ['error tracker.terminal_states.empty', { terminalStates: [] }],
    ['error tracker.terminal_states.empty_element', { terminalStates: ['done', ''] }],
    ['error tracker.query_filter.invalid', { queryFilter: 'q=%zz' }],
    ['error tracker.query_filter.invalid', { queryFilter: 'state=open' }],
    ['warning tracker.active_states.empty', { activeStates: [] }],
    ['warning tracker.states.padding', { activeStates: [' todo'] }],
    ['warning tracker.states.padding', { terminalStates: ['done '] }],
    ['warning tracker.states.overlap', { activeStates: ['todo', 'Done'] }],
    ['warning tracker.endpoint.insecure', { endpoint: 'http://git.example.org' }],
    ['warning tracker.endpoint.api_suffix', { endpoint: 'https://git.example.org/api/v1' }],
    ['warning tracker.endpoint.api_suffix', { endpoint: 'https://git.example.org/api/v1/' }],
    ['warning tracker.api_key.whitespace', { apiKey: 'abc\n' }],
    ['warning tracker.api_key.token_hint', { apiKey: '', env: { GITEA_TOKEN: 'x' } }],
    ['warning tracker.query_filter.unknown_key', { queryFilter: 'assignee=bob' }],
  ])('%s', (expected, changes) => {
    expect(found(changes)).toEqual([expected]);
  });

  it('reports everything in one order: errors, then warnings', () => {
    const all = found({
      endpoint: 'http://git.example.org/api/v1',
      project: 'acme',
      activeStates: [' done', ''],
      terminalStates: ['done', ''],
      apiKey: ' abc',
      queryFilter: 'page=1',
    });
    expect(all).toEqual([
      'error tracker.project.format',
      'error tracker.active_states.empty_element',
      'error tracker.terminal_states.empty_element',
      'error tracker.query_filter.invalid',
      'warning tracker.states.padding',
      'warning tracker.states.overlap',
      'warning tracker.endpoint.insecure',
      'warning tracker.endpoint.api_suffix',
      'warning tracker.api_key.whitespace',
    ]);
  });

  it('hints at GITEA_TOKEN first, then FORGEJO_TOKEN, and never shows a value', () => {
    const hint = (env: ProviderCheckInput['env']) => check({ ...GOOD, apiKey: null, env })[0]?.message ?? '';
    expect(hint({ GITEA_TOKEN: 'secret-1', FORGEJO_TOKEN: 'secret-2' })).toContain('GITEA_TOKEN is set');
    expect(hint({ GITEA_TOKEN: '', FORGEJO_TOKEN: 'secret-2' })).toContain('FORGEJO_TOKEN is set');
    expect(hint({ FORGEJO_TOKEN: 'secret-2' })).not.toContain('secret-2');
    expect(hint({})).toBe('');
  });

  it('a fault of the endpoint shows no password', () => {
    const [problem] = check({ ...GOOD, endpoint: 'https://user:pa55word@h?x' });
    expect(problem?.message).not.toContain('pa55word');
  });

  it('points at the key and the entry', () => {
    expect(check({ ...GOOD, activeStates: ['todo', ''] })[0]?.key).toEqual(['tracker', 'active_states', 1]);
    expect(check({ ...GOOD, queryFilter: 'page=1' })[0]?.key).toEqual(['tracker', 'query_filter']);
  });
});

describe('gitea provider', () => {
  it('answers to its vendors’ names and has no default host or states', () => {
    expect(provider).toMatchObject({
      kind: 'selfhosted',
      aliases: ['gitea', 'forgejo'],
      requires: { apiKey: true, project: true, endpoint: true },
      defaults: { endpoint: '', activeStates: [], terminalStates: [] },
    });
  });
});

describe('tracker.no_change_state', () => {
  const problem = ['error tracker.no_change_state'];
  it.each<[string | null, readonly string[]]>([
    [null, []],
    ['Review', []],
    ['DONE', []],
    ['nothing-to-do', problem],
  ])('%j', (noChangeState, expected) => {
    expect(found({ handoffState: 'review', noChangeState })).toEqual(expected);
  });

  it('names the error that every move to it would be', () => {
    const [found] = check({ ...GOOD, handoffState: 'review', noChangeState: 'x' });
    expect(found?.message).toMatch(/^tracker_payload_error: tracker\.no_change_state "x" /);
  });
});
