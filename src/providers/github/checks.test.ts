import { describe, expect, it } from 'vitest';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import { check } from './checks.ts';

const GOOD: ProviderCheckInput = {
  apiKey: 'fake-token',
  project: 'acme/widgets',
  endpoint: null,
  activeStates: null,
  terminalStates: null,
  handoffState: null,
  inProgressState: null,
  queryFilter: null,
  options: {},
  env: {},
};

function found(parts: Partial<ProviderCheckInput>): string[] {
  return check({ ...GOOD, ...parts }).map(({ severity, check: id }) => `${severity} ${id}`);
}

describe('offline checks', () => {
  it('find nothing in a good block', () => {
    expect(found({})).toEqual([]);
    expect(found({ endpoint: 'http://127.0.0.1:8080', queryFilter: 'label:agent', handoffState: 'needs-review' })).toEqual([]);
  });

  it('leave an empty project to the generic check', () => {
    expect(found({ project: null })).toEqual([]);
  });

  it.each([
    ['no slash', 'widgets'],
    ['two slashes', 'a/b/c'],
    ['an empty owner', '/b'],
    ['an empty repo after trimming', 'a/ '],
    ['white space in the owner', 'a c/b'],
    ['white space around', ' a/b'],
    ['a tab in the repo', 'a/b\tc'],
  ])('tracker.project.format: %s', (_, project) => {
    expect(found({ project })).toEqual(['error tracker.project.format']);
  });

  it.each(['label:x repo:a/b', 'type:issue', '-REPO:a/b'])('tracker.query_filter.invalid: %s', (queryFilter) => {
    expect(found({ queryFilter })).toEqual(['error tracker.query_filter.invalid']);
  });

  it('tracker.endpoint.invalid: an address that cannot be used', () => {
    expect(found({ endpoint: 'forge.example' })).toEqual(['error tracker.endpoint.invalid']);
  });

  it.each(['FORGE_TOKEN', 'GITHUB_TOKEN'])('tracker.api_key.forge_token_hint: the key is empty while %s is set', (name) => {
    const [problem] = check({ ...GOOD, apiKey: '', env: { [name]: 'hush' } });
    expect(problem).toMatchObject({
      severity: 'warning',
      check: 'tracker.api_key.forge_token_hint',
      key: ['tracker', 'api_key'],
    });
    expect(problem?.message).toContain(`$${name}`);
    expect(problem?.message).not.toContain('hush');
  });

  it('tracker.api_key.forge_token_hint names FORGE_TOKEN where both are set', () => {
    const [problem] = check({ ...GOOD, apiKey: null, env: { GITHUB_TOKEN: 'b', FORGE_TOKEN: 'a' } });
    expect(problem?.message).toContain('$FORGE_TOKEN');
  });

  it('tracker.api_key.forge_token_missing: the key is empty and no such variable is set', () => {
    expect(found({ apiKey: '', env: { FORGE_TOKEN: '' } })).toEqual(['warning tracker.api_key.forge_token_missing']);
    expect(found({ apiKey: null })).toEqual(['warning tracker.api_key.forge_token_missing']);
  });

  it.each<[string, Partial<ProviderCheckInput>]>([
    ['tracker.active_states.empty_element', { activeStates: ['todo', ' '] }],
    ['tracker.terminal_states.empty_element', { terminalStates: ['', 'done'] }],
    ['tracker.states.overlap', { activeStates: ['todo', 'Done'], terminalStates: ['done'] }],
    ['tracker.states.overlap', { activeStates: ['todo', 'wontfix'] }],
    ['tracker.handoff_state.collision', { handoffState: 'Review' }],
    ['tracker.handoff_state.collision', { handoffState: 'closed', terminalStates: ['closed'] }],
    ['tracker.in_progress_state.collision', { inProgressState: 'DONE' }],
    ['tracker.in_progress_state.collision', { inProgressState: 'working', handoffState: 'Working' }],
  ])('%s', (id, parts) => {
    expect(found(parts)).toEqual([`warning ${id}`]);
  });

  it('come in the documented order', () => {
    const all = found({
      apiKey: '',
      project: 'x',
      endpoint: 'x',
      queryFilter: 'repo:x',
      activeStates: ['a', ''],
      terminalStates: ['a', ''],
      handoffState: 'a',
      inProgressState: 'a',
    });
    expect(all).toEqual([
      'error tracker.endpoint.invalid',
      'error tracker.project.format',
      'error tracker.query_filter.invalid',
      'warning tracker.api_key.forge_token_missing',
      'warning tracker.active_states.empty_element',
      'warning tracker.terminal_states.empty_element',
      'warning tracker.states.overlap',
      'warning tracker.handoff_state.collision',
      'warning tracker.in_progress_state.collision',
    ]);
  });

  it('point at the key they are about', () => {
    const problems = check({ ...GOOD, project: 'x', activeStates: ['a', ''], terminalStates: ['a'] });
    expect(problems.map(({ key }) => key?.join('.'))).toEqual([
      'tracker.project',
      'tracker.active_states',
      'tracker.terminal_states',
    ]);
  });
});
