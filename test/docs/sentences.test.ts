import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SENTENCES as FLEET } from '../fleet/sentences.ts';
import { IDENTITY, TRUST } from '../trust/sentences.ts';
import { SENTENCES as COMMANDS } from './command-sentences.ts';
import { SENTENCES as HTTP } from './http-sentences.ts';
import { SENTENCES as PRODUCT } from './product-sentences.ts';

/** Whatever is promised, the test that is said to show it is there. */
describe.each([
  ['commands', COMMANDS],
  ['messages, packaging and docs', PRODUCT],
  ['HTTP', HTTP],
  ['identity', IDENTITY],
  ['trust', TRUST],
  ['the fleet', FLEET],
])('%s', (_subject, sentences) => {
  it.each(sentences)('$says: $file', ({ file, test }) => {
    const written = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    const quoted = test.replaceAll("'", String.raw`\'`);
    expect(written).toMatch(new RegExp(`['"\`]${quoted.replaceAll(/[.*+?^$()|[\]{}\\]/g, String.raw`\$&`)}['"\`]`));
  });
});
