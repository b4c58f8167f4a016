import { describe, expect, it } from 'vitest';
import { mergedHeaders, replyHeaders } from './reply-headers.ts';

const of = (...parts: string[]) => replyHeaders(parts.map((part) => Buffer.from(part, 'latin1')));

describe('the headers of an answer', () => {
  it('are found by a name in any case, a repeated one joined', () => {
    const headers = of('ETag', '"a"', 'Link', '<a>; rel=next', 'link', '<b>; rel=last', 'x-name', ' é ');
    expect(headers.get('etag')).toBe('"a"');
    expect(headers.get('Etag')).toBe('"a"');
    expect(headers.get('LINK')).toBe('<a>; rel=next, <b>; rel=last');
    expect(headers.get('x-name')).toBe('é');
    expect(headers.get('none')).toBeNull();
  });

  it('are brought up to date by newer ones, but for one', () => {
    const merged = mergedHeaders(
      of('a', '1', 'b', '1', 'content-length', '9'),
      of('B', '2', 'Content-Length', '0'),
      'content-length',
    );
    expect([...merged]).toEqual([
      ['a', '1'],
      ['b', '2'],
      ['content-length', '9'],
    ]);
  });
});
