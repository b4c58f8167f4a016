import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExcerpt } from './excerpt.ts';

describe('createExcerpt', () => {
  it('keeps everything that fits', () => {
    const excerpt = createExcerpt({ headBytes: 4, tailBytes: 8 });
    for (const text of ['ab', 'cde', 'fghijkl']) excerpt.add(Buffer.from(text));
    expect(excerpt.text()).toBe('abcdefghijkl');
  });

  it('keeps the beginning and the end and says what is missing', () => {
    const excerpt = createExcerpt({ headBytes: 4, tailBytes: 8 });
    excerpt.add(Buffer.from('0123456789abcdefghij'));
    expect(excerpt.text()).toBe('0123\n[8 bytes left out]\ncdefghij');
  });

  it('says of each piece where it was cut, for who shows it', () => {
    const excerpt = createExcerpt({ headBytes: 4, tailBytes: 4 });
    const shown = () => excerpt.text((piece, cut) => `<${piece} ${cut}>`);
    excerpt.add(Buffer.from('01234567'));
    expect(shown()).toBe('<01234567 null>');
    excerpt.add(Buffer.from('89'));
    expect(shown()).toBe('<0123 end>\n[2 bytes left out]\n<6789 start>');
  });

  it('leaves no half character at the gap', () => {
    const excerpt = createExcerpt({ headBytes: 3, tailBytes: 3 });
    excerpt.add(Buffer.from('éééééé'));
    expect(excerpt.text()).toBe('é\n[6 bytes left out]\né');
  });

  it('keeps the same whatever the chunks', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 30 })), (chunks) => {
        const whole = createExcerpt({ headBytes: 7, tailBytes: 11 });
        const pieces = createExcerpt({ headBytes: 7, tailBytes: 11 });
        whole.add(Buffer.concat(chunks));
        for (const chunk of chunks) pieces.add(Buffer.from(chunk));
        expect(pieces.text()).toBe(whole.text());
      }),
    );
  });
});
