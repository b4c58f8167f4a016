import { describe, expect, it } from 'vitest';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import { check } from './checks.ts';

const GOOD: ProviderCheckInput = {
  apiKey: 'glpat-0123456789',
  project: 'acme/rocket',
  endpoint: null,
  activeStates: ['todo'],
  terminalStates: ['done'],
  handoffState: null,
  inProgressState: null,
  queryFilter: null,
  options: {},
  env: {},
};

function found(over: Partial<ProviderCheckInput>): string[] {
  return check({ ...GOOD, ...over }).map(({ severity, check }) => `${severity} ${check}`);
}

describe('tracker.endpoint.invalid', () => {
  it.each([
    'gitlab.example.com',
    'ftp://host',
    'https://',
    'https://:8443',
    'https://::1',
    'https://host?x=1',
    'https://host#top',
    '/api',
  ])('%s', (endpoint) => {
    expect(found({ endpoint })).toEqual(['error tracker.endpoint.invalid']);
  });

  it('never shows a password', () => {
    const [problem] = check({ ...GOOD, endpoint: 'https://user:hunter22@host?x' });
    expect(problem?.message).not.toContain('hunter22');
  });
});

describe('tracker.project.format, in its order', () => {
  it.each([
    ['1. white space only', '   ', 'is blank'],
    ['2. embedded white space', 'acme/my rocket', 'white space'],
    ['2. white space before percent-encoding', 'acme%2Fmy rocket', 'white space'],
    ['3. percent-encoded', 'acme%2Frocket', 'percent-encoded'],
    ['3. percent-encoded before a missing slash', 'acme%2', 'percent-encoded'],
    ['4. no slash and not all digits', 'rocket', 'neither'],
    ['5. an empty segment', 'acme//rocket', 'empty segment'],
    ['5. a leading slash', '/acme/rocket', 'empty segment'],
    ['5. a trailing slash', 'acme/rocket/', 'empty segment'],
  ])('%s', (_, project, why) => {
    const problems = check({ ...GOOD, project });
    expect(problems).toMatchObject([{ severity: 'error', check: 'tracker.project.format', key: ['tracker', 'project'] }]);
    expect(problems[0]?.message).toContain(why);
  });

  it.each(['4711', '0042', 'acme/rocket', 'acme/sub/group/rocket', null])('%s is good', (project) => {
    expect(found({ project })).toEqual([]);
  });
});

it('tracker.query_filter.invalid', () => {
  const problems = check({ ...GOOD, queryFilter: 'state=closed' });
  expect(problems).toMatchObject([
    { severity: 'error', check: 'tracker.query_filter.invalid', key: ['tracker', 'query_filter'] },
  ]);
  expect(problems[0]?.message).toContain('"state" is reserved');
});

describe('warnings', () => {
  it.each<[row: string, over: Partial<ProviderCheckInput>, checks: string[]]>([
    ['http endpoint', { endpoint: 'http://gitlab.local' }, ['warning tracker.endpoint.insecure']],
    ['endpoint with the API suffix', { endpoint: 'https://gitlab.local/api/v4/' }, ['warning tracker.endpoint.api_suffix']],
    ['empty key, variable set', { apiKey: '', env: { GITLAB_TOKEN: 'x' } }, ['warning tracker.api_key.token_hint']],
    ['no key, variable set', { apiKey: null, env: { GITLAB_TOKEN: 'x' } }, ['warning tracker.api_key.token_hint']],
    ['empty key, variable not set', { apiKey: '' }, []],
    ['empty key, variable empty', { apiKey: '', env: { GITLAB_TOKEN: '' } }, []],
    ['white space around the key', { apiKey: ' glpat-0123456789\n' }, ['warning tracker.api_key.whitespace']],
    ['a state in both lists', { activeStates: ['Done'] }, ['warning tracker.states.overlap']],
    [
      'an active state among the default terminal ones',
      { activeStates: ['wontfix'], terminalStates: null },
      ['warning tracker.states.overlap'],
    ],
    ['a comma in a state', { handoffState: 'a,b' }, ['warning tracker.handoff_state.comma']],
    ['nothing', { endpoint: 'https://gitlab.local:8443/gitlab' }, []],
  ])('%s', (_, over, checks) => {
    expect(found(over)).toEqual(checks);
  });

  it('never show a token', () => {
    const problems = [
      ...check({ ...GOOD, apiKey: '', env: { GITLAB_TOKEN: 'glpat-9876543210' } }),
      ...check({ ...GOOD, apiKey: ' glpat-9876543210' }),
    ];
    expect(problems).toHaveLength(2);
    for (const { message } of problems) expect(message).not.toContain('9876543210');
  });
});

it('errors come first, each in the documented order', () => {
  expect(found({ endpoint: 'nowhere', project: 'rocket', queryFilter: 'x=1', apiKey: ' key' })).toEqual([
    'error tracker.endpoint.invalid',
    'error tracker.project.format',
    'error tracker.query_filter.invalid',
    'warning tracker.api_key.whitespace',
  ]);
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
