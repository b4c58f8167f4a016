import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { processorMs } from '../../../test/support/processor-time.ts';
import { createMask, maskSecrets } from './mask.ts';

const TOKEN = 'glpat-AbC/12+x y';

describe('masking', () => {
  it.each([
    ['as it is', TOKEN],
    ['percent-encoded', encodeURIComponent(TOKEN)],
    ['in base64', Buffer.from(TOKEN).toString('base64')],
    ['in base64 without padding', Buffer.from(TOKEN).toString('base64').replace(/=+$/, '')],
    ['in base64url', Buffer.from(TOKEN).toString('base64url')],
    ['percent-encoded in lower case', encodeURIComponent(TOKEN).replaceAll(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase())],
    ['percent-encoded twice', encodeURIComponent(encodeURIComponent(TOKEN))],
    ['percent-encoded letter by letter', [...Buffer.from(TOKEN)].map((byte) => `%${byte.toString(16)}`).join('')],
    ['as a form sends it', new URLSearchParams({ t: TOKEN }).toString().slice(2)],
    ['in hex', Buffer.from(TOKEN).toString('hex')],
    ['in upper-case hex', Buffer.from(TOKEN).toString('hex').toUpperCase()],
    ['escaped in JSON', TOKEN.replaceAll('/', '\\/').replaceAll('+', '\\u002b')],
    ['escaped for HTML by number', TOKEN.replaceAll('/', '&#47;').replaceAll('+', '&#x2B;')],
  ])('replaces a secret %s', (_, form) => {
    expect(maskSecrets(`a ${form} b ${form}`, [TOKEN])).toBe('a [redacted] b [redacted]');
  });

  it.each([
    ['by name', 'a&amp;b&lt;c&quot;d&#39;e'],
    ['twice', 'a&amp;amp;b&amp;lt;c&amp;quot;d&amp;#39;e'],
  ])('replaces a secret escaped for HTML %s', (_, form) => {
    expect(maskSecrets(`<p>${form}</p>`, [`a&b<c"d'e`])).toBe('<p>[redacted]</p>');
  });

  it.each(['', 'u', 'us', 'user:', 'someone@example.test:'])('replaces a secret in base64 after %j', (before) => {
    const shown = maskSecrets(`Basic ${Buffer.from(`${before}${TOKEN}`).toString('base64')}`, [TOKEN]);
    expect(shown).toContain('[redacted]');
    // What is left tells of the neighbours, and of the secret not more than its two outermost characters.
    expect(Buffer.from(shown.split('[redacted]')[1] ?? '', 'base64').length).toBeLessThanOrEqual(2);
  });

  it.each(['', 'u', 'us', 'user:'])('replaces a secret in the base64 of addresses after %j, where that is another', (before) => {
    const secret = '>>>???>>>???k';
    const form = Buffer.from(`${before}${secret}`).toString('base64url');
    expect(form, 'it has digits that only this form has').toMatch(/-.*_|_.*-/);
    const shown = maskSecrets(`jwt ${form}`, [secret]);
    expect(shown).toContain('[redacted]');
    expect(Buffer.from(shown.split('[redacted]')[1] ?? '', 'base64url').length).toBeLessThanOrEqual(2);
  });

  it('looks through a megabyte in a moment', () => {
    const text = 'a line of \\"text\\", 100 % of it & more\\n'.repeat(25_000);
    const mask = createMask(['glpat-AbCdEfGhIjKlMnOpQrSt', 'ghp_0123456789abcdefghijABCDEFGHIJ012345']);
    expect(processorMs(() => expect(mask(text)).toBe(text))).toBeLessThan(500);
  });

  it.each([
    ['backslashes', '\\'],
    ['backslashes and letters', '\\\\g'],
    ['backslashes and u', '\\\\u'],
    ['ampersands', '&amp;'],
    ['percent signs', '%25'],
    ['percents', '%'],
    ['zeros', '&#0000'],
    ['addresses', 'https://x'],
    ['at signs', 'https://a@'],
  ])('looks through a text of nothing but %s in a moment', (_, part) => {
    const text = part.repeat(250_000 / part.length);
    const mask = createMask([
      'glpat-AbCdEfGhIjKlMnOpQrSt',
      '\\\\backslash\\secret',
      '\n\nsecret of lines',
      '%25secret',
      '&secret',
    ]);
    expect(processorMs(() => mask(text))).toBeLessThan(500);
  });

  it('looks in a moment through a row of backslashes inside of what may be a secret', () => {
    const mask = createMask(['pa\\ss"w/1', 'pa\\\\ss']);
    expect(processorMs(() => mask(`pa${'\\'.repeat(250_000)}x`))).toBeLessThan(500);
  });

  it.each([
    ['as it is', String.raw`a\b\c`],
    ['in JSON', String.raw`a\\b\c`],
    ['percent-encoded', 'a%5C%5Cb%5cc'],
    ['for HTML', 'a&#92;&#x5c;b&bsol;c'],
    ['by number', String.raw`a\u005c\u005cb\u005cc`],
  ])('replaces a secret with backslashes inside %s', (_, form) => {
    expect(maskSecrets(`x ${form} y`, [String.raw`a\\b\c`.replaceAll('\\\\', '\\')])).toBe('x [redacted] y');
  });

  it('replaces a secret that begins with backslashes, or has nothing else', () => {
    expect(maskSecrets('a\\\\\\\\b', ['\\\\\\\\'])).toBe('a[redacted]b');
    expect(maskSecrets('a \\\\\\sec\\ret b', ['\\\\sec\\ret'])).not.toContain('sec');
    expect(maskSecrets(JSON.stringify('\\sec\\ret'), ['\\sec\\ret'])).not.toContain('sec');
  });

  it('replaces a secret with quotes inside of JSON', () => {
    expect(maskSecrets(JSON.stringify({ token: 'a"b\\c' }), ['a"b\\c'])).toBe('{"token":"[redacted]"}');
  });

  it('replaces a padded secret without its padding', () => {
    expect(maskSecrets('got secret1', [' secret1\n'])).toBe('got [redacted]');
  });

  it('replaces the longer of two secrets that share text', () => {
    expect(maskSecrets('me@x:token99', ['token99', 'me@x:token99'])).toBe('[redacted]');
  });

  it.each([
    ['https://user:pass@host/x', 'https://[redacted]@host/x'],
    ['see http://u@host, ok', 'see http://[redacted]@host, ok'],
    ['https://u:p@ss@host/x', 'https://[redacted]@host/x'],
    ['https://host/@me', 'https://host/@me'],
    ['mail me@host', 'mail me@host'],
  ])('hides the user part of %s', (text, masked) => {
    expect(maskSecrets(text, [])).toBe(masked);
  });

  it('leaves empty and very short secrets alone, they would garble everything', () => {
    expect(maskSecrets('about', ['', 'a', 'abo'])).toBe('about');
  });

  it('hides what is left of a secret at the end of a cut text', () => {
    expect(maskSecrets('bad token: glpat-AbC', [TOKEN], 'end')).toBe('bad token: [redacted]');
    expect(maskSecrets('bad token: gl', [TOKEN], 'end')).toBe('bad token: gl');
  });

  it('hides what is left of a secret at the beginning of a cut text', () => {
    expect(maskSecrets('12+x y is bad', [TOKEN], 'start')).toBe('[redacted] is bad');
    expect(maskSecrets('x y is bad', [TOKEN], 'start')).toBe('x y is bad');
    expect(maskSecrets('12+x y is bad', [TOKEN])).toBe('12+x y is bad');
  });

  it('hides a whole secret at a cut that ends as another begins', () => {
    expect(maskSecrets('got abcd-1234', ['abcd-1234', '1234-wxyz'], 'end')).toBe('got [redacted]');
  });

  it.each([
    ['as it is', TOKEN],
    ['in base64', Buffer.from(TOKEN).toString('base64')],
    ['percent-encoded', encodeURIComponent(TOKEN)],
    ['in hex', Buffer.from(TOKEN).toString('hex')],
  ])('leaves less than four characters of a secret %s, wherever the text is cut', (_, form) => {
    for (let at = 1; at < form.length; at += 1) {
      expect(maskSecrets(`a ${form.slice(0, at)}`, [TOKEN], 'end').length).toBeLessThan(`a [redacted]xxxx`.length);
      expect(maskSecrets(`${form.slice(at)} b`, [TOKEN], 'start').length).toBeLessThan(`[redacted]xxxx b`.length);
    }
  });

  it('knows how much of a text may be the beginning of a secret', () => {
    const { unfinished } = createMask([TOKEN]);
    expect(['see glpat-A', `see ${TOKEN}`, 'see gl', ''].map(unfinished)).toEqual([7, 0, 0, 0]);
  });

  it('never lets a secret through', () => {
    const secret = fc
      .string({ minLength: 8, maxLength: 40 })
      .filter((text) => text.trim().length >= 8 && !'[redacted]'.includes(text.trim()));
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (hidden, before, after) => {
        fc.pre(!`${before}[redacted]${after}`.includes(hidden));
        expect(maskSecrets(`${before}${hidden}${after}`, [hidden])).not.toContain(hidden);
      }),
    );
  });
});
