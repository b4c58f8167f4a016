import { TemplateError } from '../domain/model/errors.ts';

/** Where something stands in the workflow file, both counted from 1. Columns count characters, not bytes. */
interface Position {
  readonly line: number;
  readonly column: number;
}

export type PositionOf = (offset: number) => Position;

/** Builds the error for the source text at an offset; the caller throws it. */
export type ErrorAt = (offset: number, detail: string) => TemplateError;

/** Turns offsets of a template body into positions in the file that holds it. Lines are counted only once one is asked for. */
export function createPositions(source: string, firstLine: number): PositionOf {
  const cache: { starts?: readonly number[] } = {};
  return (offset) => {
    const starts = (cache.starts ??= lineStarts(source));
    const row = lastAtOrBefore(starts, offset);
    return { line: firstLine + row, column: countCharacters(source, starts[row] ?? 0, offset) + 1 };
  };
}

export function createErrorAt(positionOf: PositionOf): ErrorAt {
  return (offset, detail) => new TemplateError(detail, positionOf(offset));
}

function lineStarts(source: string): number[] {
  const starts = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** Index of the last start that is not after the offset, by halving. */
function lastAtOrBefore(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Counts without building them: a line may be as long as the file, and have many problems. */
function countCharacters(source: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += (source.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) count += 1;
  return count;
}
