import { describe, expect, it } from 'vitest';
import { processorMs } from '../../../test/support/processor-time.ts';
import { cleanLines, logTail } from './log-excerpt.ts';

describe('the end of a log', () => {
  it.each([
    ['what a progress bar showed last', '10 %\r50 %\r100 %\r\r\n', ['100 %']],
    ['no line that shows nothing', 'a\r\n\r\r\n \nb', ['a', 'b']],
    ['no escape codes', '\u001b[31mred\u001b[0m \u001b]0;title\u0007end', ['red end']],
  ])('has %s', (_, text, lines) => {
    expect(cleanLines(text)).toEqual(lines);
  });

  it.each(['\r', '\u001b', '\u001b[', '\u001b]', '\u001b[0 ', ' ', '\n', '\u0000'])(
    'is found in a moment behind a megabyte of %j',
    (part) => {
      const text = `first\n${part.repeat(1_000_000 / part.length)}x`;
      expect(processorMs(() => logTail(text, 50))).toBeLessThan(1_000);
    },
  );
});
