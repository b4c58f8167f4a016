import { describe, expect, it } from 'vitest';
import { stopComment } from './stop-comment.ts';

const said = (statement: string): string => stopComment({ word: 'blocked', statement }, 'run-1');

describe('the comment on an agent that stopped', () => {
  it('fences what it said, with more backticks than that has in a row', () => {
    expect(said('no key')).toBe('The agent stopped: it is blocked (run run-1).\n\n```\nno key\n```');
    expect(said('a ```` b')).toContain('\n\n`````\na ```` b\n`````');
  });

  it.each([
    ['a long statement', 'x'.repeat(64 * 1024)],
    ['one of nothing but backticks', '`'.repeat(64 * 1024)],
    ['one with a long run of them', `${'x'.repeat(20_000)}${'`'.repeat(20_000)}`],
    ['one of characters in two halves', `x${'😀'.repeat(30_000)}`],
  ])('has room in every tracker for %s, fenced and said to be cut', (_, statement) => {
    const comment = said(statement);
    expect(comment.length).toBeLessThan(30_200);
    expect(comment.isWellFormed()).toBe(true);
    const [, fence = '', kept = ''] =
      /\n\n(`{3,})\n([^]*)\n\1\n\nThe statement was cut: it has \d+ characters\.$/.exec(comment) ?? [];
    expect(kept.length).toBeGreaterThan(5_000);
    expect(statement.startsWith(kept)).toBe(true);
    expect(kept).not.toContain(fence);
  });
});
