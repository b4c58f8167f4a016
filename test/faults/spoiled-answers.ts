import type { Chance } from '../support/random.ts';

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** How the body of an answer is spoiled. */
export const SPOIL = { corrupt: corrupted, garble: garbled } as const;

/** Some bytes are not what they were: the answer is no JSON any more. */
function corrupted(body: Buffer, chance: Chance): Buffer {
  const bytes = Buffer.from(body);
  bytes[0] = 0xff;
  for (let count = 0; count < 3; count += 1) bytes[chance.below(bytes.length)] = chance.below(256);
  return bytes;
}

export function isJson(body: Buffer): boolean {
  return parsed(body) !== undefined;
}

/** It is JSON as before, and says something else: a member is missing, or a letter or a digit is another one. */
function garbled(body: Buffer, chance: Chance): Buffer {
  const value = parsed(body);
  const places = placesIn(value ?? null);
  if (places.length > 0) chance.pick(places)(chance);
  return Buffer.from(JSON.stringify(value));
}

function parsed(body: Buffer): Json | undefined {
  try {
    const value = JSON.parse(body.toString('utf8')) as Json;
    return typeof value === 'object' && value !== null && placesIn(value).length > 0 ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Every place where something can be changed. */
function placesIn(value: Json): readonly ((chance: Chance) => void)[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Record<string, Json>;
  return Object.entries(holder).flatMap(([name, member]) => [
    ...placesIn(member),
    ...(Array.isArray(value) ? [] : [() => void delete holder[name]]),
    ...(typeof member === 'string' || typeof member === 'number'
      ? [(chance: Chance) => void (holder[name] = altered(member, chance))]
      : []),
  ]);
}

function altered(member: string | number, chance: Chance): Json {
  const text = String(member);
  const places = [...text.matchAll(/[a-z0-9]/gi)].map(({ index }) => index);
  if (places.length === 0) return null;
  const at = chance.pick(places);
  const known = text[at] ?? '';
  const others = (/\d/.test(known) ? '0123456789' : 'abcdefghijklmnopqrstuvwxyz').replace(known, '');
  const changed = text.slice(0, at) + others[chance.below(others.length)] + text.slice(at + 1);
  return typeof member === 'number' ? Number(changed) : changed;
}
