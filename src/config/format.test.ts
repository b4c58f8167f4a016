import { expect, it } from 'vitest';
import { formatProblem } from './format.ts';

it('prints one line, whatever is in the message', () => {
  const message = 'a\nb\r\tc\u001b[31m\u0085\u2028d “é”';
  expect(formatProblem({ severity: 'warning', check: 'x.y', message })).toBe(
    'warning: x.y: a\\nb\\r\\tc\\u001b[31m\\u0085\\u2028d “é”',
  );
});
