import { describe, expect, it } from 'vitest';
import { mergedHeaders, replyHeaders } from './reply-headers.ts';

describe('the headers of an answer', () => {
  it('are found by a name in any case, a repeated one joined', () => {
    const headers = replyHeaders({ etag: '"a"', link: ['<a>; rel=next', '<b>; rel=last'], 'x-name': ' é ' });
    expect(headers.get('etag')).toBe('"a"');
    expect(headers.get('Etag')).toBe('"a"');
    expect(headers.get('LINK')).toBe('<a>; rel=next, <b>; rel=last');
    expect(headers.get('x-name')).toBe('é');
    expect(headers.get('none')).toBeNull();
  });

  it('are brought up to date by newer ones, but for one', () => {
    const merged = mergedHeaders(
      replyHeaders({ a: '1', b: '1', 'content-length': '9' }),
      replyHeaders({ b: '2', 'content-length': '0' }),
      'content-length',
    );
    expect([...merged]).toEqual([
      ['a', '1'],
      ['b', '2'],
      ['content-length', '9'],
    ]);
  });
});
