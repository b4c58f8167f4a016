import { readdirSync, readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { createChance } from '../support/random.ts';
import type { Target } from './target.ts';

export interface Finding {
  readonly input: string;
  readonly error: string;
}

/** Inputs that once were findings, kept for ever. */
export function seedsOf(target: Target, folder: string): readonly string[] {
  const own = path.join(folder, folderOf(target));
  try {
    return readdirSync(own)
      .toSorted()
      .map((name) => readFileSync(path.join(own, name), 'utf8'));
  } catch {
    return [];
  }
}

export function keepSeed(target: Target, folder: string, input: string): string {
  const own = path.join(folder, folderOf(target));
  mkdirSync(own, { recursive: true });
  const file = path.join(own, createHash('sha256').update(input).digest('hex').slice(0, 12));
  writeFileSync(file, input);
  return file;
}

function folderOf({ name }: Target): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

/** Old findings first, then so many new inputs from the seed. Stops at the first that does harm. */
export async function fuzz(
  target: Target,
  options: { inputs: number; seed: number; kept: readonly string[] },
): Promise<Finding | null> {
  const chance = createChance(options.seed);
  for (let count = 0; count < options.kept.length + options.inputs; count += 1) {
    const kept = options.kept[count];
    const input = kept ?? target.make(chance);
    try {
      const taking = target.take(input, kept !== undefined);
      if (taking !== undefined) await taking;
    } catch (error) {
      return { input, error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
    }
  }
  return null;
}
