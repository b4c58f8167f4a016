import { expect, it } from 'vitest';
import { createMask } from '../../lib/http/index.ts';
import { lastPart } from './last-part.ts';

const TOKEN = 'ghp_Zq8vT3xWm2LpR7yKc5NbD9sHfJ1aUeG4oQiV';

it('is all of a short text', () => expect(lastPart('all of it', 2_000)).toBe('all of it'));

it.each(['x'.repeat(5_000), 'a word and '.repeat(500)])('shows no half of a secret, wherever it is cut: %#', (after) => {
  const mask = createMask([TOKEN]);
  for (let cut = 0; cut <= TOKEN.length; cut += 1) {
    const shown = mask(lastPart(`said before ${TOKEN} ${after}`, after.length + cut));
    expect(shown).not.toMatch(new RegExp([0, 10, 20, 30].map((at) => TOKEN.slice(at, at + 8)).join('|')));
  }
});
