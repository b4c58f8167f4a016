import { createText, type CallSite } from './call-site.ts';
import { formatPrintf } from './printf.ts';
import { quotedText } from './spelling.ts';
import { compareText, entryOf, formatJson, formatValue, isList, isMap, valueKindOf, truth, type TemplateValue } from './value.ts';

export interface TemplateFunction {
  readonly min: number;
  readonly max: number;
  /** What comes out, for the analyser; `operand` where that depends on what goes in. */
  readonly result: 'bool' | 'number' | 'string' | 'operand';
  /** Arguments after the first one of this truth are not evaluated, and that one is the result. */
  readonly stopsAt?: boolean;
  call(args: readonly TemplateValue[], site: CallSite): TemplateValue;
}

/** All there are. Anything else in a template is an unknown function. */
export const FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  [
    'eq',
    {
      min: 2,
      max: Infinity,
      result: 'bool',
      call: ([first, ...rest], site) => rest.some((other) => isEqual(first, other, site)),
    },
  ],
  ['ne', { min: 2, max: 2, result: 'bool', call: ([a, b], site) => !isEqual(a, b, site) }],
  ['lt', { min: 2, max: 2, result: 'bool', call: ([a, b], site) => order(a, b, site) < 0 }],
  ['le', { min: 2, max: 2, result: 'bool', call: ([a, b], site) => order(a, b, site) <= 0 }],
  ['gt', { min: 2, max: 2, result: 'bool', call: ([a, b], site) => order(a, b, site) > 0 }],
  ['ge', { min: 2, max: 2, result: 'bool', call: ([a, b], site) => order(a, b, site) >= 0 }],
  ['and', { min: 1, max: Infinity, result: 'operand', stopsAt: false, call: lastOf }],
  ['or', { min: 1, max: Infinity, result: 'operand', stopsAt: true, call: lastOf }],
  ['not', { min: 1, max: 1, result: 'bool', call: ([value]) => !truth(value ?? null) }],
  ['len', { min: 1, max: 1, result: 'number', call: ([value], site) => length(value ?? null, site) }],
  ['index', { min: 1, max: Infinity, result: 'operand', call: ([value, ...keys], site) => indexAll(value ?? null, keys, site) }],
  ['print', { min: 0, max: Infinity, result: 'string', call: print }],
  [
    'printf',
    { min: 1, max: Infinity, result: 'string', call: ([format, ...args], site) => formatPrintf(text(format, site), args, site) },
  ],
  ['join', { min: 2, max: 2, result: 'string', call: ([a, b], site) => join(a ?? null, b ?? null, site) }],
  ['lower', { min: 1, max: 1, result: 'string', call: ([value], site) => lower(text(value, site)) }],
  ['upper', { min: 1, max: 1, result: 'string', call: ([value], site) => upper(text(value, site)) }],
  ['trim', { min: 1, max: 1, result: 'string', call: ([value], site) => text(value, site).trim() }],
  [
    'default',
    { min: 2, max: 2, result: 'operand', call: ([fallback = null, value = null]) => (truth(value) ? value : fallback) },
  ],
  ['toJSON', { min: 1, max: 1, result: 'string', call: ([value], site) => toJson(value ?? null, site) }],
]);

function lastOf(args: readonly TemplateValue[]): TemplateValue {
  return args.at(-1) ?? null;
}

/** Nil equals nil and nothing else; otherwise only values of one kind can be compared, and lists and maps never. */
function isEqual(a: TemplateValue = null, b: TemplateValue = null, site: CallSite): boolean {
  if (a === null || b === null) return a === b;
  requireSameKind(a, b, site);
  if (isList(a) || isMap(a)) throw site.fail(`a ${valueKindOf(a)} cannot be compared`);
  if (typeof a === 'string') site.spend(a.length);
  return a === b;
}

function order(a: TemplateValue = null, b: TemplateValue = null, site: CallSite): number {
  if (a === null || b === null) throw site.fail('nil has no order; guard it with {{ if }}');
  requireSameKind(a, b, site);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a !== 'string' || typeof b !== 'string') throw site.fail(`a ${valueKindOf(a)} has no order`);
  site.spend(a.length + b.length);
  return compareText(a, b);
}

function requireSameKind(a: TemplateValue, b: TemplateValue, site: CallSite): void {
  if (valueKindOf(a) !== valueKindOf(b)) throw site.fail(`a ${valueKindOf(a)} cannot be compared with a ${valueKindOf(b)}`);
}

/** Of a text the UTF-8 bytes, as in Go. */
function length(value: TemplateValue, site: CallSite): number {
  if (isList(value)) return value.length;
  if (isMap(value)) return Object.keys(value).length;
  if (value === null) throw site.fail('nil has no length; guard it with {{ if }}');
  if (typeof value !== 'string') throw site.fail(`a ${valueKindOf(value)} has no length`);
  site.spend(value.length);
  return Buffer.byteLength(value);
}

function indexAll(value: TemplateValue, keys: readonly TemplateValue[], site: CallSite): TemplateValue {
  return keys.reduce((item, key) => indexOnce(item, key, site), value);
}

/** An entry of a map, an element of a list, or a byte of a text. */
function indexOnce(value: TemplateValue, key: TemplateValue, site: CallSite): TemplateValue {
  if (value === null) throw site.fail('nil cannot be indexed; guard it with {{ if }}');
  if (isMap(value)) return entry(value, key, site);
  if (!isList(value) && typeof value !== 'string') throw site.fail(`a ${valueKindOf(value)} cannot be indexed`);
  if (typeof key !== 'number' || !Number.isInteger(key))
    throw site.fail(`a ${valueKindOf(value)} is indexed by a whole number, got ${valueKindOf(key)}`);
  if (typeof value === 'string') site.spend(value.length);
  const items = typeof value === 'string' ? Buffer.from(value) : value;
  const item = key < 0 ? undefined : items[key];
  if (item === undefined) throw site.fail(`index ${key} is out of range: the ${valueKindOf(value)} has length ${items.length}`);
  return item;
}

function entry(map: Parameters<typeof entryOf>[0], key: TemplateValue, site: CallSite): TemplateValue {
  if (typeof key !== 'string') throw site.fail(`a map is indexed by a string, got ${valueKindOf(key)}`);
  const value = entryOf(map, key);
  if (value === undefined) throw site.fail(`the map has no entry ${quotedText(key)}`);
  return value;
}

/** Go's Sprint: a blank goes between two operands of which neither is a text. */
function print(args: readonly TemplateValue[], site: CallSite): string {
  const out = createText(site);
  args.forEach((value, index) => {
    const blank = index > 0 && typeof value !== 'string' && typeof args[index - 1] !== 'string';
    out.add((blank ? ' ' : '') + formatValue(value));
  });
  return out.text();
}

/** Takes separator and list in either order, so that it reads well called and piped into. */
function join(a: TemplateValue, b: TemplateValue, site: CallSite): string {
  const [list, separator] = isList(a) ? [a, b] : [b, a];
  if (!isList(list) || typeof separator !== 'string') {
    throw site.fail(`wants a separator and a list, got ${valueKindOf(a)} and ${valueKindOf(b)}`);
  }
  const out = createText(site);
  list.forEach((item, index) => out.add((index > 0 ? separator : '') + formatValue(item)));
  return out.text();
}

/** Each character becomes one, as in Go: the end of a word makes no other letter of its last. */
function lower(words: string): string {
  const letters = words.replace(/\P{ASCII}/gu, (letter) => Array.from(letter.toLowerCase())[0] ?? letter);
  return letters.replace(/[A-Z]+/g, (run) => run.toLowerCase());
}

/** A letter whose capital takes two, such as ß, stays as it is. */
function upper(words: string): string {
  const capitals = words.replace(/\P{ASCII}/gu, (letter) => {
    const capital = letter.toUpperCase();
    return Array.from(capital).length === 1 ? capital : letter;
  });
  return capitals.replace(/[a-z]+/g, (run) => run.toUpperCase());
}

function toJson(value: TemplateValue, site: CallSite): string {
  const json = formatJson(value);
  site.spend(json.length);
  return json;
}

function text(value: TemplateValue | undefined, site: CallSite): string {
  if (typeof value !== 'string') throw site.fail(`wants a string, got ${valueKindOf(value ?? null)}`);
  site.spend(value.length);
  return value;
}
