import { readdirSync, readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createChance } from '../support/random.ts';
import type { Target } from './target.ts';
import { startWatch, type Watch } from './watch.ts';

export interface Finding {
  readonly input: string;
  readonly error: string;
}

export interface FuzzOptions {
  readonly inputs: number;
  readonly seed: number;
  /** Where findings are kept. */
  readonly folder: string;
}

/** What one input may take of a processor. Nothing that is linear comes near it. */
const MOST_PROCESSOR_MS = 1_000;
/** An input that is not done by then is waited for no more. */
const LONGEST_MS = 60_000;
/** Other work of the process counts too: only what is slow each time is. */
const TRIES = 3;
/** So many inputs in a row. What is only held weakly, such as a signal, lives until the event loop turns. */
const INPUTS_A_TURN = 100;

/** Inputs that once were findings, kept for ever. */
function seedsOf(target: Target, folder: string): readonly string[] {
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
export async function fuzz(target: Target, { inputs, seed, folder }: FuzzOptions): Promise<Finding | null> {
  const chance = createChance(seed);
  const kept = seedsOf(target, folder);
  const watch = startWatch(folder, path.join(folder, folderOf(target)), LONGEST_MS);
  try {
    for (let count = 0; count < kept.length + inputs; count += 1) {
      const old = kept[count];
      const input = old ?? target.make(chance);
      const error = await harmOf(target, input, { watch, thorough: old !== undefined });
      if (error !== null) return { input, error };
      if (count % INPUTS_A_TURN === 0) await nextTurn();
    }
    return null;
  } finally {
    await watch.close();
  }
}

/** What the input does that no input may do; null for nothing. */
async function harmOf(target: Target, input: string, way: { watch: Watch; thorough: boolean }): Promise<string | null> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES; tries += 1) {
    way.watch.begin(input);
    const before = process.cpuUsage();
    try {
      const taking = target.take(input, way.thorough);
      if (taking !== undefined) await taking;
    } catch (error) {
      return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    } finally {
      way.watch.end();
    }
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
    if (least <= MOST_PROCESSOR_MS) return null;
  }
  return `it took ${Math.round(least)} ms of processor time`;
}
