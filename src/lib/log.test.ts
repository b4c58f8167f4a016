import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLog, jsonRecord, textRecord } from './log.ts';

const TIME = '2026-01-02T03:04:05.006Z';

describe('text records', () => {
  it.each([
    ['a plain word', { key: 'value' }, 'key=value'],
    ['a number', { n: 3 }, 'n=3'],
    ['a flag', { would_dispatch: true }, 'would_dispatch=true'],
    ['a blank', { title: 'two words' }, 'title="two words"'],
    ['an empty text', { error: '' }, 'error=""'],
    ['a quote', { title: 'a"b' }, String.raw`title="a\"b"`],
    ['a line break', { title: 'a\nlevel=ERROR' }, String.raw`title="a\nlevel=ERROR"`],
    ['an equals sign', { title: 'a=b' }, 'title="a=b"'],
    ['a line separator', { title: 'a\u2028b' }, String.raw`title="a\u2028b"`],
    ['text turned around', { title: 'a\u202eb' }, String.raw`title="a\u202eb"`],
    ['another script', { title: 'Füße' }, 'title=Füße'],
  ])('%s', (_name, attributes, shown) => {
    expect(textRecord('info', 'tick completed', attributes, TIME)).toBe(`level=INFO msg="tick completed" ${shown} time=${TIME}`);
  });

  it('leaves out what is undefined', () => {
    expect(textRecord('warn', 'm', { a: undefined, b: null }, TIME)).toBe(`level=WARN msg=m b=null time=${TIME}`);
  });

  it('no value can begin a new record or attribute', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (title) => {
        const line = textRecord('info', 'm', { title }, TIME);
        // oxlint-disable-next-line no-control-regex -- exactly these must not appear
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
        const rest = line.slice('level=INFO msg=m title='.length, -` time=${TIME}`.length);
        if (rest.startsWith('"')) expect(JSON.parse(rest)).toBe(title);
        else expect(rest).toBe(title);
      }),
    );
  });
});

describe('the log', () => {
  const written: string[] = [];
  const log = createLog({
    level: 'warn',
    format: 'json',
    write: (line) => written.push(line),
    now: () => 0,
    mask: (text) => text.replaceAll('s3cret', '[redacted]'),
  });

  it('keeps to its level and masks every text', () => {
    log.info('hidden');
    log.error('s3cret said', { error: 'token s3cret' });
    expect(written).toEqual([
      `${jsonRecord('error', '[redacted] said', { error: 'token [redacted]' }, '1970-01-01T00:00:00.000Z')}\n`,
    ]);
  });
});
