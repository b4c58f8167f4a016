import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failureOf, settingsFor } from '../../../test/fakes/linear/connect.ts';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import { parseQueryFilter, parseUrl, readSettings } from './settings.ts';

describe('linear construction', () => {
  it.each<[string, Partial<TrackerSettings>, TrackerErrorKind]>([
    ['an empty key', { apiKey: ' ' }, 'tracker_auth_error'],
    ['an empty project', { project: '' }, 'missing_tracker_project'],
    ['an endpoint without a scheme', { endpoint: 'api.linear.app/graphql' }, 'tracker_payload_error'],
    ['an endpoint without a host', { endpoint: 'https://:443' }, 'tracker_payload_error'],
    ['a filter that is no JSON', { queryFilter: 'labels=a' }, 'tracker_payload_error'],
    ['a filter that is a list', { queryFilter: '[{"a":1}]' }, 'tracker_payload_error'],
    ['a filter that is null', { queryFilter: 'null' }, 'tracker_payload_error'],
    ['a filter that is a text', { queryFilter: '"x"' }, 'tracker_payload_error'],
  ])('%s is refused', async (_, changes, kind) => {
    expect((await failureOf(() => readSettings(settingsFor(changes)))).kind).toBe(kind);
  });

  it('takes the default endpoint where none is given', () => {
    expect(readSettings(settingsFor({ endpoint: '' })).access.baseUrl).toBe('https://api.linear.app/graphql');
  });

  it('keeps a query of the endpoint, without a fragment', () => {
    expect(parseUrl('https://h/graphql/?a=b#c')).toEqual({ url: 'https://h/graphql?a=b' });
  });
});

describe('linear query filter', () => {
  it.each([
    ['team', '{"state": {}, "team": {}}'],
    ['team', '{"te\\u0061m": 1}'],
    ['state', '{"labels": {}, "state": {"name": {"eq": "x"}}}'],
  ])('the reserved key %s is reported first for %s', async (key, fragment) => {
    const error = await failureOf(() => readSettings(settingsFor({ queryFilter: fragment })));
    expect(error).toMatchObject({ kind: 'tracker_payload_error' });
    expect(error.detail).toContain(`names ${key},`);
  });

  it('only the top level is reserved, and field names are not judged', () => {
    const fragment = '{"or": [{"team": {"key": {"eq": "OPS"}}}], "nope": 1}';
    expect(readSettings(settingsFor({ queryFilter: fragment })).filter).toEqual(JSON.parse(fragment));
  });

  it('nothing is no filter', () => {
    expect([parseQueryFilter(''), parseQueryFilter(' \n')]).toEqual([{ filter: {} }, { filter: {} }]);
  });

  it('no text makes it throw', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (fragment) => {
        const parsed = parseQueryFilter(fragment);
        expect('fault' in parsed || typeof parsed.filter === 'object').toBe(true);
      }),
    );
  });
});
