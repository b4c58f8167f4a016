import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { clearPlace, removePlace } from './remove-place.ts';
import { replaceFile } from './short-file.ts';

let directory: string;
const at = (...names: string[]): string => path.join(directory, ...names);

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'remove-place-'));
  mkdirSync(at('elsewhere'));
  writeFileSync(at('elsewhere', 'theirs'), 'theirs');
});
afterEach(() => rmSync(directory, { recursive: true }));

function plant(place: string): void {
  mkdirSync(path.join(place, 'deep', 'deeper'), { recursive: true });
  for (const name of ['a', 'deep/b', 'deep/deeper/c']) writeFileSync(path.join(place, name), '');
  symlinkSync(at('elsewhere'), path.join(place, 'deep', 'link'));
}

const goneOf = (): readonly string[] => readdirSync(directory).filter((name) => name.startsWith('+gone-'));

describe('a place that an agent took', () => {
  it.each(['folder', 'link', 'file', 'nothing'])('is cleared of a %s, and of nothing elsewhere', async (kind) => {
    if (kind === 'folder') plant(at('place'));
    else if (kind === 'link') symlinkSync(at('elsewhere'), at('place'));
    else if (kind === 'file') writeFileSync(at('place'), '');
    await removePlace(at('place'));
    expect(readdirSync(directory)).toEqual(['elsewhere']);
    expect(readFileSync(at('elsewhere', 'theirs'), 'utf8')).toBe('theirs');
  });

  it('is free at once, before what was in it is deleted', async () => {
    plant(at('place'));
    clearPlace(at('place'));
    expect([existsSync(at('place')), goneOf().length]).toEqual([false, 1]);
    await vi.waitFor(() => expect(readdirSync(directory)).toEqual(['elsewhere']), 5_000);
    expect(readFileSync(at('elsewhere', 'theirs'), 'utf8')).toBe('theirs');
  });

  it('is free at once too where a file is written in its stead, also by the longest name', async () => {
    const name = 'n'.repeat(218);
    plant(at(name));
    replaceFile(at(name), 'ours');
    expect([readFileSync(at(name), 'utf8'), goneOf().length]).toEqual(['ours', 1]);
    await vi.waitFor(() => expect(goneOf()).toEqual([]), 5_000);
  });

  it.each(['link', 'file', 'nothing'])('is free at once where there is a %s', (kind) => {
    if (kind === 'link') symlinkSync(at('elsewhere'), at('place'));
    else if (kind === 'file') writeFileSync(at('place'), '');
    clearPlace(at('place'));
    expect(readdirSync(directory)).toEqual(['elsewhere']);
    expect(readFileSync(at('elsewhere', 'theirs'), 'utf8')).toBe('theirs');
  });
});
