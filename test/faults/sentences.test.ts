import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FAULTS, SECURITY } from './sentences.ts';

it.each([...FAULTS, ...SECURITY])('$says: $file', ({ file, test }) => {
  const written = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  expect([`'${test}'`, `\`${test}\``].some((quoted) => written.includes(quoted))).toBe(true);
});
