import { z } from 'zod';
import { TRUST } from '../domain/model/settings.ts';

/** The longest delay a timer can hold: a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** How a whole number may be written in quotes. */
export const WHOLE_NUMBER = /^\s*[+-]?\d+\s*$/;

interface Limits {
  readonly min: number;
  /** Without one, the largest whole number that is exact. */
  readonly max?: number;
}

/** Free text. */
export function text(about: string) {
  return said(z.string(), { description: about });
}

/** Text that may be written as a bare whole number, such as a numeric project id. */
export function textOrNumber(about: string) {
  const schema = z.preprocess((value) => (Number.isSafeInteger(value) ? String(value) : value), z.string());
  return said(schema, { description: about });
}

/** Text that means something. */
export function filledText(about: string) {
  const schema = z.string().refine((value) => value.trim() !== '' && !value.includes('\0'), { error: emptyOrNul });
  return said(schema, { description: about, pattern: '\\S' });
}

const emptyOrNul = ({ input }: { readonly input?: unknown }): string =>
  String(input).trim() === '' ? 'must not be empty' : 'must not contain a NUL character';

export function textList(about: string) {
  return said(z.array(z.string()), { description: about });
}

export function flag(about: string) {
  return said(z.boolean(), { description: about });
}

export function choice<const Words extends readonly [string, ...string[]]>(words: Words, about: string) {
  return said(z.enum(words), { description: about });
}

/** A whole number, which may be written in quotes. */
export function wholeNumber(limits: Limits, about: string) {
  const max = limits.max ?? Number.MAX_SAFE_INTEGER;
  const schema = z.transform((value: unknown, context) => {
    const number = toWholeNumber(value);
    if (number !== null && number >= limits.min && number <= max) return number;
    const message = `must be a whole number${range(number, limits, max)}`;
    context.issues.push({ code: 'custom', message, input: value, params: SHOW_VALUE });
    return z.NEVER;
  });
  const { source: pattern } = WHOLE_NUMBER;
  return said(schema, { type: ['integer', 'string'], pattern, minimum: limits.min, maximum: max, description: about });
}

/** A duration that a timer waits for. */
export function milliseconds(min: number, about: string) {
  return wholeNumber({ min, max: MAX_TIMER_MS }, about);
}

/** A number of at least zero, which may be written in quotes. */
export function amount(about: string) {
  const schema = z.transform((value: unknown, context) => {
    const number = typeof value === 'string' && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && number >= 0 && number <= Number.MAX_SAFE_INTEGER) return number;
    const bound =
      typeof number === 'number' && number > Number.MAX_SAFE_INTEGER ? `at most ${Number.MAX_SAFE_INTEGER}` : 'at least 0';
    context.issues.push({ code: 'custom', message: `must be a number of ${bound}`, input: value, params: SHOW_VALUE });
    return z.NEVER;
  });
  return said(schema, { type: ['number', 'string'], pattern: '^\\s*\\d+(\\.\\d+)?\\s*$', minimum: 0, description: about });
}

/** Gives a field its default, in the checks and in the JSON Schema alike. */
export function byDefault<Schema extends z.ZodType>(schema: Schema, value: z.output<Schema>) {
  return said(schema.default(value as z.util.NoUndefined<z.output<Schema>>), { ...schema.meta(), default: value });
}

/** What is said of a new schema for editors. `meta` and `describe` would make another one of it, twice the work at each start. */
function said<Schema extends z.ZodType>(schema: Schema, meta: z.GlobalMeta & Record<string, unknown>): Schema {
  z.globalRegistry.add(schema, meta);
  return schema;
}

/** Marks an issue whose sentence should end with the value that was found. */
const SHOW_VALUE = { showValue: true } as const;

/** `anyone`, `collaborators`, or the names of people. */
export function authors(about: string) {
  return z
    .unknown()
    .transform((value, context) => {
      const word = TRUST.find((known) => known === value);
      if (word) return word;
      if (!isStringList(value)) return refuse(context, value, 'must be anyone, collaborators or a list of user names');
      const names = value.map((name) => name.trim()).filter((name) => name !== '');
      return names.length > 0 ? names : refuse(context, value, 'must name somebody, or nothing would ever be dispatched');
    })
    .meta({
      anyOf: [{ enum: [...TRUST] }, { type: 'array', items: { type: 'string', pattern: '\\S' }, minItems: 1 }],
      description: about,
    });
}

/** Program and arguments: a list, or a string that is split at blanks outside of quotes. */
export function commandLine(about: string) {
  return z
    .unknown()
    .transform((value, context) => {
      const words = typeof value === 'string' ? splitCommand(value) : value;
      if (words === null) return refuse(context, value, 'has a quote that is not closed');
      if (!isStringList(words)) return refuse(context, value, 'must be a string or a list of strings');
      if (!words[0]?.trim()) return refuse(context, value, 'must name a program');
      if (words.some((word) => word.includes('\0'))) return refuse(context, value, 'must not contain a NUL character');
      return words;
    })
    .meta({ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }], description: about });
}

function refuse(context: z.RefinementCtx, input: unknown, message: string): never {
  context.issues.push({ code: 'custom', message, input });
  return z.NEVER;
}

function isStringList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

/** Null when a quote stays open. Backslashes are ordinary characters. */
function splitCommand(line: string): readonly string[] | null {
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  const outside = line.replace(/"[^"]*"|'[^']*'/g, '');
  if (/["']/.test(outside)) return null;
  return words.map((word) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ''),
  );
}

function toWholeNumber(value: unknown): number | null {
  if (typeof value === 'number') return Number.isInteger(value) ? value : null;
  return typeof value === 'string' && WHOLE_NUMBER.test(value) ? Number(value) : null;
}

function range(number: number | null, limits: Limits, max: number): string {
  if (max < MAX_TIMER_MS) return ` from ${limits.min} to ${max}`;
  if (number !== null && number > max) return ` of at most ${max}`;
  // A key that takes any negative number for "off" has no lower limit worth telling about.
  return limits.min < 0 && number === null ? '' : ` of at least ${limits.min}`;
}
