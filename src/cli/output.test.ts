import { afterEach, describe, expect, it, vi } from 'vitest';
import { printJson, printJsonLine } from './output.ts';

afterEach(() => vi.restoreAllMocks());

/** Ends a colour, turns text around, breaks a line, and a mark that nobody sees. */
const STEERING = 'a\u009bb\u202ec\u2028d\ufeffe\u001bf';

describe('data for programs', () => {
  it.each([
    ['over several lines', printJson],
    ['on one line', printJsonLine],
  ])('steers no terminal and says the same, %s', (_how, print) => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    print({ title: STEERING, [STEERING]: 'Füße' });
    const text = String(write.mock.lastCall?.[0]);
    expect(text).not.toMatch(/[^\P{C}\n]|\u2028/u);
    expect(text).toContain('Füße');
    expect(JSON.parse(text)).toEqual({ title: STEERING, [STEERING]: 'Füße' });
  });
});
