import { z } from 'zod';
import type { Problem } from '../domain/model/problem.ts';
import { isPlainMap, type Key, type PlainMap, typeName } from './document.ts';
import { faultText } from './fault-text.ts';
import { WHOLE_NUMBER } from './fields.ts';
import { declaredKeys, declaredPart } from './known-keys.ts';
import { nearestWord } from '../lib/nearest-word.ts';

/** Where a block stands: `check` is its stable name in check ids, `key` its name in this file. */
export interface BlockName {
  readonly check: string;
  readonly key: string;
  /** Keys that may stand in the block too but are read elsewhere: offered as spellings. */
  readonly alsoKnown?: readonly string[];
}

/** A block checked to its schema. */
export interface CheckedBlock<T> {
  /** What is left when faulty keys are taken as not written; null when not even that passes. */
  readonly value: T | null;
  readonly problems: readonly Problem[];
  /** Keys, dotted, whose value was refused; the empty one is the block itself. */
  readonly faulty: ReadonlySet<string>;
}

/** To compile a schema is worth it for what is read all day, not for a file that is looked at once. */
export const ONE_LOOK = { jitless: true } as const;

/** Finds the key that may have been meant in another block. */
export type FindElsewhere = (key: string) => string | null;

/**
 * Checks one block. Each fault becomes a problem and its key is taken out, so that the rest can still be read and one
 * run shows every fault of a file. An unknown key is only a warning.
 */
export function checkBlock<T>(schema: z.ZodType<T>, raw: unknown, name: BlockName, elsewhere: FindElsewhere): CheckedBlock<T> {
  const problems: Problem[] = [];
  const faulty = new Set<string>();
  if (raw !== undefined && !isPlainMap(raw)) {
    const result = schema.safeParse({}, ONE_LOOK);
    const message = `must be a map, got ${typeName(raw)}`;
    const problem: Problem = { severity: 'error', check: name.check, message, key: [name.key] };
    return { value: result.data ?? null, problems: [problem], faulty: new Set(['']) };
  }
  const left = writtenIn(raw ?? {}) as Record<string, unknown>;
  const strict = refusingUnknown(schema);
  problems.push(...emptyUnknownKeys(strict, raw ?? {}, { schema, left, name, elsewhere }));
  for (;;) {
    const result = strict.safeParse(left, ONE_LOOK);
    if (result.success) return { value: result.data, problems, faulty };
    if (result.error.issues.map((issue) => unquoteNumber(left, issue)).includes(true)) continue;
    // A key that was taken out may now be missing: its fault has been told.
    const fresh = narrowest(result.error.issues).filter(
      (issue) => !faulty.has(keyOf(issue).join('.')) || issue.code === 'unrecognized_keys',
    );
    // All sentences come first: taking out one entry of a list must not change what is said about the next.
    problems.push(...fresh.flatMap((issue) => problemsOf(issue, { schema, left, name, elsewhere })));
    for (const issue of fresh) if (issue.code !== 'unrecognized_keys') faulty.add(keyOf(issue).join('.'));
    const removed = result.error.issues.map((issue) => removeFault(left, issue)).includes(true);
    if (!removed) return { value: null, problems, faulty };
  }
}

/** Made once for each schema: making one takes longer than checking a block. */
const STRICT = new WeakMap<z.ZodType, z.ZodType>();

// A kind whose schema lets unknown keys pass would keep a misspelt one from ever being noticed.
function refusingUnknown<T>(schema: z.ZodType<T>): z.ZodType<T> {
  const lenient = schema instanceof z.ZodObject && schema.def.catchall === undefined;
  if (!lenient) return schema;
  const strict = STRICT.get(schema) ?? schema.strict();
  STRICT.set(schema, strict);
  return strict as z.ZodType<T>;
}

/** A whole number has the bounds of what is exact, and mostly others within them. */
function narrowest(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  return issues.filter((issue) => !issues.some((other) => isNarrower(other, issue)));
}

function isNarrower(one: z.core.$ZodIssue, other: z.core.$ZodIssue): boolean {
  if (one.path.join('.') !== other.path.join('.')) return false;
  if (one.code === 'too_big' && other.code === 'too_big') return one.maximum < other.maximum;
  return one.code === 'too_small' && other.code === 'too_small' && one.minimum > other.minimum;
}

/** Integers may be quoted everywhere, also where a kind's own schema asks for plain numbers. */
function unquoteNumber(left: Record<string, unknown>, issue: z.core.$ZodIssue): boolean {
  if (issue.code !== 'invalid_type' || !['number', 'int'].includes(issue.expected)) return false;
  const path = pathOf(issue);
  const value = valueAt(left, path);
  if (typeof value !== 'string' || !WHOLE_NUMBER.test(value)) return false;
  return Reflect.set(valueAt(left, path.slice(0, -1)) as object, path.at(-1)!, Number(value));
}

interface Context {
  readonly schema: z.ZodType;
  readonly left: PlainMap;
  readonly name: BlockName;
  readonly elsewhere: FindElsewhere;
}

function problemsOf(issue: z.core.$ZodIssue, context: Context): readonly Problem[] {
  const path = pathOf(issue);
  if (issue.code === 'unrecognized_keys') {
    return unknownKeys(path, issue.keys, context);
  }
  const declared = declaredPart(context.schema, path);
  const check = join(context.name.check, declared);
  const value = valueAt(context.left, path);
  const sentence = faultText(issue, value);
  const isEntry = path.length > declared.length;
  const subject = value === undefined && !isEntry ? `${join(context.name.key, path)} ` : entryName(path.slice(declared.length));
  const message = `${subject}${sentence}`;
  return [{ severity: 'error', check, message, key: written(context.name, path) }];
}

function unknownKeys(path: Key, keys: readonly string[], { schema, name, elsewhere }: Context): readonly Problem[] {
  const known = declaredKeys(schema, path);
  if (path.length === 0) known.push(...(name.alsoKnown ?? []));
  return unknownKeyProblems(written(name, path).map(String), keys, { known, elsewhere });
}

/** A key without a value says nothing; one that nothing reads is misspelt all the same. */
function emptyUnknownKeys(strict: z.ZodType, raw: PlainMap, context: Context): readonly Problem[] {
  if (!holdsEmpty(raw)) return [];
  const issues = strict.safeParse(raw, ONE_LOOK).error?.issues ?? [];
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [];
    const path = pathOf(issue);
    const empty = issue.keys.filter((key) => valueAt(raw, [...path, key]) === undefined);
    return unknownKeys(path, empty, context);
  });
}

function holdsEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsEmpty);
  return isPlainMap(value) && Object.values(value).some((entry) => entry === undefined || holdsEmpty(entry));
}

/** Of a thousand unknown keys nobody wants the nearest spelling of each, and the search for it takes its time. */
const MAX_SPELLED = 100;

/** Warns of keys that nothing reads, with the spelling that was probably meant. */
export function unknownKeyProblems(
  path: readonly string[],
  keys: readonly string[],
  words: { readonly known: readonly string[]; readonly elsewhere: FindElsewhere },
): readonly Problem[] {
  return keys.map((key, index) => {
    const full = [...path, key];
    const meant = index < MAX_SPELLED ? probablyMeant(path, key, words.known, words.elsewhere) : null;
    const hint = meant === null ? '' : `; did you mean \`${meant}\`?`;
    return { severity: 'warning', check: 'config.unknown_key', message: `unknown key \`${full.join('.')}\`${hint}`, key: full };
  });
}

function probablyMeant(path: readonly string[], key: string, known: readonly string[], elsewhere: FindElsewhere): string | null {
  // Other services call some keys by a longer name, such as `project_slug`.
  const near = nearestWord(key, known) ?? known.find((word) => key.startsWith(`${word}_`)) ?? null;
  return near === null ? elsewhere(key) : [...path, near].join('.');
}

function entryName(rest: Key): string {
  return rest.map((segment) => (typeof segment === 'number' ? `entry ${segment + 1} ` : `\`${segment}\` `)).join('');
}

function written(name: BlockName, path: Key): Key {
  return name.key === '' ? path : [name.key, ...path];
}

function join(prefix: string, path: Key): string {
  return [...(prefix === '' ? [] : [prefix]), ...path].join('.');
}

/** Takes out what an issue is about: the keys it names, or the nearest map entry that holds it. */
function removeFault(left: Record<string, unknown>, issue: z.core.$ZodIssue): boolean {
  if (issue.code !== 'unrecognized_keys') return removeAt(left, keyOf(issue));
  return issue.keys.map((key) => removeAt(left, [...issue.path.map(String), key])).includes(true);
}

function pathOf(issue: z.core.$ZodIssue): Key {
  return issue.path.map((segment) => (typeof segment === 'number' ? segment : String(segment)));
}

function keyOf(issue: z.core.$ZodIssue): readonly string[] {
  const index = issue.path.findIndex((segment) => typeof segment === 'number');
  return (index < 0 ? issue.path : issue.path.slice(0, index)).map(String);
}

function removeAt(left: Record<string, unknown>, path: readonly string[]): boolean {
  const parent = valueAt(left, path.slice(0, -1));
  const last = path.at(-1);
  if (last === undefined || !isPlainMap(parent) || !Object.hasOwn(parent, last)) return false;
  return Reflect.deleteProperty(parent, last);
}

function valueAt(from: unknown, path: Key): unknown {
  return path.reduce<unknown>((at, segment) => {
    if (Array.isArray(at)) return (at as unknown[])[Number(segment)];
    return isPlainMap(at) && Object.hasOwn(at, String(segment)) ? at[String(segment)] : undefined;
  }, from);
}

/** A copy without the keys that have no value. */
function writtenIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(writtenIn);
  if (!isPlainMap(value)) return value;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [key, entry] of Object.entries(value)) if (entry !== undefined) copy[key] = writtenIn(entry);
  return copy;
}
