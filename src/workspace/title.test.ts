import { expect, it } from 'vitest';
import { titleOf } from './title.ts';

it.each([
  ['Tidy up [skip ci]', 'Tidy up (skip ci)'],
  ['[skip_ci] [ci-skip] Tidy [CI_SKIP]', '(skip_ci) (ci-skip) Tidy (CI_SKIP)'],
  ['[CI skip] [no actions] Tidy', '(CI skip) (no actions) Tidy'],
  ['Fixes #9, #10', 'Fixes no. 9, no. 10'],
  ['Closes acme/shop#9', 'Closes acme/shop no. 9'],
  ['fixes GH-9 now', 'fixes GH no. 9 now'],
  ['Resolves !9', 'Resolves no. 9'],
  ['Closes https://forge/acme/shop/issues/9', 'Closes https://forge/acme/shop/issues no. 9'],
  ['Fixed: https://forge/acme/shop/-/work_items/9.', 'Fixed: https://forge/acme/shop/-/work_items no. 9.'],
  ['Fix /v1/2 of GH', 'Fix /v1/2 of GH'],
  ['See #9 [draft]', 'See #9 [draft]'],
  ['See GH-9 and https://forge/acme/shop/issues/9', 'See GH-9 and https://forge/acme/shop/issues/9'],
])('a title gives the forge no orders: %s', (title, shown) => {
  expect(titleOf({ identifier: 'T-1', title })).toBe(shown);
});

it.each([
  ['a\0b\u001B[31mc\r\nd', 'a b [31mc d'],
  ['\0 \u0007', 'T-1'],
])('a title has no control characters: %j', (title, shown) => {
  expect(titleOf({ identifier: 'T-1', title })).toBe(shown);
});
