import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failureOf, settingsFor } from '../../../test/fakes/gitea/connect.ts';
import { filterLabels, parseProject, parseQueryFilter, readSettings, unknownKeys } from './settings.ts';

const GOOD = { url: 'https://git.example.org', token: 'abc', project: 'acme/app' };

const filterOf = (queryFilter: string) => readSettings(settingsFor(GOOD, { queryFilter })).filter;

describe('gitea endpoint', () => {
  it.each([
    ['the suffix is appended', 'https://git.example.org', 'https://git.example.org/api/v1'],
    ['trailing slashes are trimmed', 'https://git.example.org//', 'https://git.example.org/api/v1'],
    ['the suffix is kept when present', 'https://git.example.org/api/v1', 'https://git.example.org/api/v1'],
    ['the suffix with a slash is kept', 'https://git.example.org/api/v1/', 'https://git.example.org/api/v1'],
    ['a sub-path is kept', 'http://h:3000/forge', 'http://h:3000/forge/api/v1'],
  ])('%s', (_, endpoint, baseUrl) => {
    expect(readSettings(settingsFor(GOOD, { endpoint })).access.baseUrl).toBe(baseUrl);
  });

  it.each(['', 'git.example.org', 'ftp://h', 'https://', 'https://:3000', 'https://::1/x', 'https://h?x=1', 'https://h#x'])(
    'is refused at construction: %j',
    async (endpoint) => {
      expect((await failureOf(() => readSettings(settingsFor(GOOD, { endpoint })))).kind).toBe('tracker_payload_error');
    },
  );
});

describe('gitea key, project and states at construction', () => {
  it('an empty key is an auth error', async () => {
    expect((await failureOf(() => readSettings(settingsFor(GOOD, { apiKey: ' ' })))).kind).toBe('tracker_auth_error');
  });

  it.each(['acme', 'acme/', '/app', 'acme/app/x', '', '/', 'ac me/app', 'acme/app ', '../app', 'acme/.'])(
    'project %j is refused',
    async (project) => {
      expect((await failureOf(() => readSettings(settingsFor(GOOD, { project })))).kind).toBe('tracker_payload_error');
    },
  );

  it('a project is an owner and a repository', () => {
    expect(parseProject('acme/app.js')).toEqual({ owner: 'acme', repo: 'app.js' });
  });

  it('at least one terminal state is needed, an empty active list only dispatches nothing', async () => {
    expect((await failureOf(() => readSettings(settingsFor(GOOD, { terminalStates: [] })))).kind).toBe('tracker_payload_error');
    expect(readSettings(settingsFor(GOOD, { activeStates: [] })).states.active).toEqual([]);
  });
});

describe('gitea query filter', () => {
  it.each(['labels=%zz', 'labels=a;q=b', 'q=%'])('unparseable %j is refused at construction', async (fragment) => {
    expect((await failureOf(() => filterOf(fragment))).kind).toBe('tracker_payload_error');
  });

  it.each([
    ['state', 'limit=1&page=2&type=pulls&state=all'],
    ['type', 'limit=1&page=2&type=pulls'],
    ['page', 'limit=1&page=2'],
    ['limit', 'q=x&limit=1'],
    ['state', 'st%61te=closed'],
  ])('the owned key %s is reported first for %s', async (key, fragment) => {
    expect((await failureOf(() => filterOf(fragment))).detail).toContain(`names ${key},`);
  });

  it('decodes what is good', () => {
    expect(filterOf(' labels=a%20b,c&q=x+y ')).toEqual([
      ['labels', 'a b,c'],
      ['q', 'x y'],
    ]);
    expect(filterOf('  ')).toEqual([]);
  });

  it.each(['labels', 'q', 'milestones', 'since', 'before', 'created_by', 'assigned_by', 'mentioned_by'])(
    'knows the key %s',
    (key) => {
      expect(unknownKeys(filterOf(`${key}=1`))).toEqual([]);
    },
  );

  it('names unknown keys once each', () => {
    expect(unknownKeys(filterOf('sort=a&assignee=b&sort=c'))).toEqual(['sort', 'assignee']);
  });

  it('finds the labels it asks for', () => {
    expect(filterLabels(filterOf('labels=a,,b&labels=b&q=z'))).toEqual(['a', 'b']);
  });

  it('any text is parsed or refused, never thrown at', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (fragment) => {
        expect(parseQueryFilter(fragment)).toBeTypeOf('object');
      }),
    );
  });
});
