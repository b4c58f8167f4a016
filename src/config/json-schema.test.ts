import { describe, expect, it } from 'vitest';
import { type Key, type PlainMap } from './document.ts';
import { fakeContext } from '../../test/support/config/fake-kinds.ts';
import { workflowJsonSchema } from './json-schema.ts';
import { SILENT_SECTIONS, workflowSections } from './schema.ts';

const { providers, agentKinds } = fakeContext();
const schema = workflowJsonSchema(providers, agentKinds) as PlainMap;

function at(...path: Key): PlainMap {
  return path.reduce<PlainMap>((node, key) => (node['properties'] as Record<string, PlainMap>)[key]!, schema);
}

function everyKey(node: PlainMap, path: readonly string[] = []): { path: string; node: PlainMap }[] {
  return Object.entries((node['properties'] ?? {}) as Record<string, PlainMap>).flatMap(([key, child]) => [
    { path: [...path, key].join('.'), node: child },
    ...everyKey(child, [...path, key]),
  ]);
}

describe('the JSON Schema', () => {
  it('explains every key', () => {
    const silent = everyKey(schema).filter(({ node }) => typeof node['description'] !== 'string' || node['description'] === '');
    expect(silent.map(({ path }) => path)).toEqual([]);
    expect(everyKey(schema).length).toBeGreaterThan(150);
  });

  it.each([...SILENT_SECTIONS])('gives %s no default', (name) => {
    const sections: Readonly<Record<string, { parse(value: unknown): unknown }>> = workflowSections(providers, agentKinds);
    expect(sections[name]?.parse({})).toEqual({});
  });

  it('has a name of its own', () => {
    expect(schema['$id']).toBe('urn:foray:workflow');
    expect(schema['$schema']).toBe('https://json-schema.org/draft/2020-12/schema');
  });

  it('is plain JSON and closed for unknown keys', () => {
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false, required: ['tracker'] });
    expect(at('tracker')).toMatchObject({ additionalProperties: false, required: ['kind'] });
  });

  it('lists kinds and aliases', () => {
    const kinds = [
      'file',
      'wfboard',
      'jira',
      'repoissues',
      'github',
      'nsproject',
      'gitlab',
      'selfhosted',
      'gitea',
      'forgejo',
      'graphql',
      'linear',
    ];
    expect(at('tracker', 'kind')['enum']).toEqual(kinds);
    expect(at('agent', 'kind')).toMatchObject({ enum: ['acp', 'claude-code', 'mock'], default: 'claude-code' });
    expect(at('reactions', 'auto_merge', 'provider')['enum']).toEqual(['nsproject', 'gitlab', 'selfhosted', 'gitea', 'forgejo']);
    for (const name of [...kinds, 'acp', 'claude-code', 'mock']) expect(at(name)['type']).toBe('object');
  });

  it('tells limits and defaults, and that numbers may be quoted', () => {
    expect(at('agent', 'max_turns')).toMatchObject({ type: ['integer', 'string'], minimum: 1, default: 20 });
    expect(at('server', 'port')).toMatchObject({ minimum: 0, maximum: 65_535 });
    expect(at('polling', 'interval_ms')['default']).toBe(30_000);
    expect(at('tracker', 'comments', 'on_failure')).toMatchObject({ type: 'boolean', default: false });
    expect(at('reactions', 'review_comments', 'max_continuation_turns')['default']).toBe(3);
    expect(at('agent', 'max_concurrent_agents_by_state')).toMatchObject({ type: 'object', default: {} });
  });

  it("carries each kind's own options beside the shared role keys", () => {
    expect(Object.keys(at('gitlab')['properties'] as object)).toEqual([
      'api_key',
      'endpoint',
      'project',
      'user_agent',
      'bot_usernames',
      'max_log_lines',
      'require_ci',
      'strategy',
      'page_size',
    ]);
    expect(Object.keys(at('file')['properties'] as object)).toEqual(['path']);
    expect(Object.keys(at('jira')['properties'] as object)).toEqual(['user_agent']);
    expect(Object.keys(at('claude-code')['properties'] as object)).toContain('model');
  });
});
