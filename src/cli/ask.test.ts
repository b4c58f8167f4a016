import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline/promises';
import { expect, it, vi } from 'vitest';
import { askFor } from './ask.ts';

it('who ends the input is told that nothing was written, in words of ours', async () => {
  const input = new PassThrough();
  const person = createInterface({ input, output: new PassThrough(), terminal: true });
  const told = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const asked = askFor(person, 'which tracker', '', () => null);
  input.write('\u0004');
  await expect(asked).rejects.toThrow('the input ended before the last question was answered: nothing was written');
  told.mockRestore();
});
