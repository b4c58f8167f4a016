import { describe, expect, it } from 'vitest';
import { loadAgentKinds } from '../agents/registry.ts';
import { loadProviders } from '../providers/registry.ts';
import { formatProblem } from './format.ts';
import { workflowJsonSchema } from './json-schema.ts';
import { readWorkflow } from './workflow.ts';

const TRAPS = ['__proto__', 'constructor', 'prototype'] as const;
const context = {
  env: {},
  homeDir: '/home/op',
  providers: await loadProviders(),
  agentKinds: await loadAgentKinds(),
  checkTemplate: () => [],
};

function linesOf(yaml: string): readonly string[] {
  return readWorkflow(`---\n${yaml}---\nDo it.\n`, '/srv/WORKFLOW.md', context).problems.map(formatProblem);
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** The path of every map that the schema knows. */
function mapsIn(schema: Schema, path: readonly string[] = []): readonly (readonly string[])[] {
  const below = Object.entries(schema.properties ?? {}).flatMap(([key, part]) => mapsIn(part, [...path, key]));
  const choices = (schema.anyOf ?? []).flatMap((part) => mapsIn(part, path));
  return [...(schema.properties === undefined ? [] : [path]), ...below, ...choices];
}

/** A file whose map at this path holds them. */
function trapsAt(path: readonly string[]): string {
  const lines = path.map((key, depth) => `${'  '.repeat(depth)}${key}:\n`);
  const margin = '  '.repeat(path.length);
  return [...lines, ...TRAPS.map((trap) => `${margin}${trap}: { polluted: yes }\n`)].join('');
}

const maps = mapsIn(workflowJsonSchema(context.providers, context.agentKinds) as Schema);

describe('a key that every object of the language has', () => {
  it('is met in every map of the file', () => {
    expect(maps.length).toBeGreaterThan(30);
    expect(maps).toContainEqual(['agent']);
    expect(maps).toContainEqual(['reactions', 'ci_failure']);
  });

  it.each(maps.map((path) => [path.join('.') || 'the file itself', path] as const))('is told as unknown in %s', (_name, path) => {
    const before = Reflect.ownKeys(Object.prototype);
    const told = linesOf(trapsAt(path));
    for (const trap of TRAPS)
      expect(
        told.some((line) => line.includes(trap)),
        `${trap} is told`,
      ).toBe(true);
    expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it.each(TRAPS)('is no kind, no reaction and no provider: %s', (trap) => {
    const tracker = 'active_states: [todo], handoff_state: review';
    expect(linesOf(`tracker: { kind: "${trap}", ${tracker} }\n`).join('\n')).toMatch(/error: tracker\.kind/);
    expect(linesOf(`tracker: { kind: file, ${tracker} }\nfile: { path: x }\nagent: { kind: "${trap}" }\n`).join('\n')).toMatch(
      /error: agent\.kind/,
    );
    expect(linesOf(`reactions: { ci_failure: { provider: "${trap}" } }\n`).join('\n')).toMatch(/provider/);
  });

  it('is merged into no map', () => {
    const told = linesOf('tracker: &base { kind: file, active_states: [todo] }\nfile: { path: x }\nagent: { <<: *base }\n');
    expect(told.join('\n')).toContain('<<');
  });
});
