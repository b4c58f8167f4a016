import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLines } from './lines.ts';

async function split(chunks: readonly Buffer[], max = 1024): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of readLines(streamOf(chunks), max)) lines.push(line);
  return lines;
}

async function* streamOf(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const ends = [...places, bytes.length];
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

describe('readLines', () => {
  it('splits at line breaks, drops the carriage return and keeps empty lines and an unended last line', async () => {
    expect(await split([Buffer.from('a\r\n\nb\nlast')])).toEqual(['a', '', 'b', 'last']);
    expect(await split([Buffer.from('a\n')])).toEqual(['a']);
    expect(await split([])).toEqual([]);
  });

  it('gives the same lines wherever the chunks are cut, inside characters too', async () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n]/g, ''));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat()), async (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        expect(await split(cutAt(bytes, cuts), 1_000_000)).toEqual(lines);
      }),
      { numRuns: 50 },
    );
  });

  it('cuts an over-long line, says so, and goes on with the next', async () => {
    const chunks = [Buffer.from('x'.repeat(700)), Buffer.from(`${'x'.repeat(700)}\nnext\n`)];
    expect(await split(chunks)).toEqual([`${'x'.repeat(1024)} [line cut, 376 bytes left out]`, 'next']);
  });

  it('leaves no half character where it cuts', async () => {
    expect(await split([Buffer.from('aé€😀é')], 9)).toEqual(['aé€ [line cut, 3 bytes left out]']);
    expect(await split([Buffer.from('é'.repeat(10))], 4)).toEqual(['éé [line cut, 16 bytes left out]']);
  });
});
