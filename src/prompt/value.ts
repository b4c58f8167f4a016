/** What a template works on: plain data, read through own properties only. */
export type TemplateValue = null | boolean | number | string | readonly TemplateValue[] | TemplateMap;

export interface TemplateMap {
  readonly [field: string]: TemplateValue;
}

export type ValueKind = 'nil' | 'bool' | 'number' | 'string' | 'list' | 'map';

export function valueKindOf(value: TemplateValue): ValueKind {
  if (value === null) return 'nil';
  if (isList(value)) return 'list';
  if (isMap(value)) return 'map';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'number' ? 'number' : 'string';
}

export function isList(value: TemplateValue): value is readonly TemplateValue[] {
  return Array.isArray(value);
}

export function isMap(value: TemplateValue): value is TemplateMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The entry of a map, or undefined. `constructor` and the like are no entries. */
export function entryOf(map: TemplateMap, name: string): TemplateValue | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

/** Go's truth: false, 0, nil, and the empty string, list and map are not. */
export function truth(value: TemplateValue): boolean {
  if (isList(value)) return value.length > 0;
  if (isMap(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** Keys in the order Go visits and prints them. */
export function sortedKeys(map: TemplateMap): string[] {
  return Object.keys(map).toSorted(compareText);
}

/** Order of the UTF-8 bytes, which is the order of the code points. */
export function compareText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/**
 * How a value is printed. Nil on its own is the empty string, where Go would print `<no value>`: an issue without a
 * priority reads better with a blank than with a marker. Inside a list or map it stays `<nil>`, as in Go.
 */
export function formatValue(value: TemplateValue): string {
  return value === null ? '' : formatNested(value);
}

export function formatNested(value: TemplateValue): string {
  if (value === null) return '<nil>';
  if (typeof value === 'number') return formatNumber(value);
  if (isList(value)) return `[${value.map(formatNested).join(' ')}]`;
  if (isMap(value))
    return `map[${sortedKeys(value)
      .map((key) => `${key}:${formatNested(value[key] ?? null)}`)
      .join(' ')}]`;
  return String(value);
}

/** Compact JSON with sorted keys, so that one value always gives one text. */
export function formatJson(value: TemplateValue): string {
  if (isList(value)) return `[${value.map(formatJson).join(',')}]`;
  if (!isMap(value)) return JSON.stringify(value);
  return `{${sortedKeys(value)
    .map((key) => `${JSON.stringify(key)}:${formatJson(value[key] ?? null)}`)
    .join(',')}}`;
}

/** Go turns to exponents below 1e-4, for fractions also from a million on, and writes at least two digits in them. */
function formatNumber(value: number): string {
  const size = Math.abs(value);
  const isOdd = !Number.isInteger(value) && (size < 1e-4 || size >= 1e6);
  return (isOdd ? value.toExponential() : String(value)).replace(/e([+-])([0-9])$/, 'e$10$2');
}
