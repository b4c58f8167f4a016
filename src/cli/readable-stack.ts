import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

const PLACE = /(?<file>\/[^\s():]+\.js):(?<line>\d+):(?<column>\d+)/g;

/** A stack with places in the source instead of the built command, whose names are shortened. What has no map stays. */
export function readableStack(stack: string): string {
  const maps = new Map<string, SourceMap | null>();
  return stack.replaceAll(PLACE, (place, file: string, line: string, column: string) => {
    const map = maps.get(file) ?? mapOf(file);
    maps.set(file, map);
    const entry = map?.findEntry(Number(line) - 1, Number(column) - 1);
    if (!entry || !('originalSource' in entry)) return place;
    return `${entry.originalSource.replace(/^(\.\.\/)+/, '')}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}

function mapOf(file: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')) as ConstructorParameters<typeof SourceMap>[0]);
  } catch {
    return null;
  }
}
