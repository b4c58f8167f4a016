import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { IDENTITY, TRUST } from './sentences.ts';

it.each([...IDENTITY, ...TRUST])('$says: $file', ({ file, test }) => {
  const written = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const quoted = test.replaceAll("'", String.raw`\'`);
  expect(written).toMatch(new RegExp(`['"\`]${quoted.replaceAll(/[.*+?^$()|[\]{}\\]/g, String.raw`\$&`)}['"\`]`));
});
