import { visibleJson } from '../lib/visible-json.ts';

/** Data for programs: one object, stable names. */
export function printJson(value: unknown): void {
  process.stdout.write(`${visibleJson(value, 2)}\n`);
}

/** The same on one line. */
export function printJsonLine(value: unknown): void {
  process.stdout.write(`${visibleJson(value)}\n`);
}

export function printLine(text: string): void {
  process.stdout.write(`${oneLine(text)}\n`);
}

/** A table with a heading; says so when there is nothing in it. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[], none = 'none'): void {
  process.stdout.write(rows.length === 0 ? `${none}\n` : textTable(head, rows));
}

export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const isLast = (column: number): boolean => column === head.length - 1;
  const shown = [head, ...rows].map((row) => row.map((cell, column) => cut(oneLine(cell), isLast(column) ? MAX_LAST : MAX_CELL)));
  const widths = head.map((_, column) => Math.max(...shown.map((row) => width(row[column] ?? ''))));
  const lines = shown.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - width(cell))))
      .join('  ')
      .trimEnd(),
  );
  return lines.map((line, index) => `${index === 0 ? bold(line) : line}\n`).join('');
}

/** A title above a part of the answer. */
export function printTitle(text: string): void {
  process.stdout.write(`${bold(text)}\n`);
}

/** No colour where nobody looks at a terminal, nor where it is not wanted (no-color.org). */
export function hasColour(): boolean {
  return process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb';
}

export function bold(text: string): string {
  return hasColour() ? `\u001B[1m${text}\u001B[0m` : text;
}

/** What others wrote can neither break a line nor steer the terminal. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trimEnd();
}

/** For people: to the second, in UTC. */
export function utcMoment(at: number | null): string {
  return at === null || !Number.isFinite(at)
    ? '-'
    : new Date(at)
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, 'Z');
}

export function iso(at: number | null): string | null {
  return at === null || !Number.isFinite(at) ? null : new Date(at).toISOString();
}

/** For people: $1.20. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(2)}`;
}

/** For people: 3d 4h, 5m 12s. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  return first < 0
    ? '0s'
    : parts
        .slice(first, first + 2)
        .filter(([count]) => count > 0)
        .map(([count, unit]) => `${count}${unit}`)
        .join(' ');
}

const MAX_CELL = 80;
/** Nothing stands behind the last column that it could push away. */
const MAX_LAST = 240;

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Wide characters of East Asian scripts and emoji take two columns. */
function width(text: string): number {
  return [...text].reduce(
    (sum, character) =>
      sum +
      (/[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\p{Extended_Pictographic}]/u.test(
        character,
      )
        ? 2
        : 1),
    0,
  );
}
