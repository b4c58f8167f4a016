import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SENTENCES } from '../fleet/sentences.ts';

it.each(SENTENCES)('$says: $file', ({ file, test }) => {
  const written = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const quoted = test.replaceAll("'", String.raw`\'`);
  expect(written).toMatch(new RegExp(`['"\`]${quoted.replaceAll(/[.*+?^$()|[\]{}\\]/g, String.raw`\$&`)}['"\`]`));
});
