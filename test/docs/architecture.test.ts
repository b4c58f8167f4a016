import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { AGENT_KINDS } from '../../src/agents/registry.ts';
import { HOLD_REASONS } from '../../src/domain/model/state.ts';
import { PROVIDERS } from '../../src/providers/registry.ts';

const architecture = readFileSync('ARCHITECTURE.md', 'utf8');
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => ({ file: `src/${file.split(path.sep).join('/')}`, text: readFileSync(path.join('src', file), 'utf8') }));

/** Where a kind's name is written in the code. */
function filesNaming(kind: string): readonly string[] {
  return sources.filter(({ text }) => text.includes(`'${kind}'`)).map(({ file }) => file);
}

describe('ARCHITECTURE.md', () => {
  it('is within two pages', () => {
    expect(architecture.split('\n').length).toBeLessThanOrEqual(120);
  });

  it('names files and folders that exist', () => {
    const named = [...architecture.matchAll(/`((?:src|test|docs)\/[\w./-]+)`/g)].map(([, file]) => file ?? '');
    const known = new Set(sources.map(({ file }) => file));
    const folders = new Set([...known].flatMap((file) => [path.dirname(file), path.dirname(path.dirname(file))]));
    const inSource = named.filter((file) => file.startsWith('src/'));
    expect(inSource.filter((file) => !known.has(file) && !folders.has(file.replace(/\/$/, '')))).toEqual([]);
  });

  it.each(PROVIDERS.map(({ kind }) => kind))('a tracker is its folder and a line of the registry: %s', (kind) => {
    const elsewhere = filesNaming(kind).filter((file) => !file.startsWith('src/providers/'));
    // A webhook's way of signing belongs to the vendor, and its table to the server; `file` is an everyday word.
    expect(kind === 'file' ? [] : elsewhere.filter((file) => file !== 'src/server/webhooks.ts')).toEqual([]);
  });

  it.each(AGENT_KINDS.map(({ kind }) => kind))('an agent is its folder and a line of the registry: %s', (kind) => {
    const elsewhere = filesNaming(kind).filter((file) => !file.startsWith('src/agents/'));
    // The one that is taken when the workflow file names none.
    expect(elsewhere.filter((file) => file !== 'src/config/schema.ts')).toEqual([]);
  });
});

describe('docs/life-of-an-issue.md', () => {
  it.each(HOLD_REASONS)('explains the hold reason %s', (reason) => {
    expect(readFileSync('docs/life-of-an-issue.md', 'utf8')).toContain(`| \`${reason}\` |`);
  });
});
