import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWorkspaceKey, markNameOf, workspaceKey } from './key.ts';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

describe('workspaceKey', () => {
  it.each([
    { identifier: 'ABC-1', key: 'ABC-1' },
    { identifier: '..a', key: '..a' },
    { identifier: 'group/project#7', key: `group_project_7-${hash('group/project#7')}` },
    { identifier: '../../etc', key: `.._.._etc-${hash('../../etc')}` },
    { identifier: 'a\0b', key: `a_b-${hash('a\0b')}` },
    { identifier: ' ', key: `_-${hash(' ')}` },
    { identifier: 'Ä😀', key: `__-${hash('Ä😀')}` },
    { identifier: 'x'.repeat(255), key: 'x'.repeat(255) },
    { identifier: 'x'.repeat(256), key: `${'x'.repeat(238)}-${hash('x'.repeat(256))}` },
    { identifier: '/'.repeat(300), key: `${'_'.repeat(238)}-${hash('/'.repeat(300))}` },
  ])('turns $identifier into $key', ({ identifier, key }) => {
    expect(workspaceKey(identifier)).toBe(key);
  });

  it.each(['', '.', '..'])('refuses "%s"', (identifier) => {
    expect(() => workspaceKey(identifier)).toThrow(/^workspace: identifier: ".*" names no directory/);
  });

  it('gives a plain file name for whatever text, and different ones for different texts', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[./_a-]{1,9}$/),
      fc.string({ minLength: 200, maxLength: 400 }),
    );
    fc.assert(
      fc.property(text, text, (one, other) => {
        fc.pre(!['', '.', '..'].includes(one) && !['', '.', '..'].includes(other));
        const key = workspaceKey(one);
        expect(isWorkspaceKey(key)).toBe(true);
        expect(['.', '..']).not.toContain(key);
        expect(Buffer.byteLength(key)).toBeLessThanOrEqual(255);
        expect(key === workspaceKey(other)).toBe(one === other);
        expect(isWorkspaceKey(markNameOf(key))).toBe(false);
      }),
      { numRuns: 200 },
    );
  });
});
