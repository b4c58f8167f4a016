import { afterEach, expect, it, vi } from 'vitest';
import { hushJobLibrary } from './hush-job-library.ts';

const { trace, error } = console;
afterEach(() => void Object.assign(console, { trace, error }));

it('keeps what the queue prints past its logger off standard error, and nothing else', () => {
  const printed = vi.fn<(...words: unknown[]) => void>();
  Object.assign(console, { trace: printed, error: printed });
  hushJobLibrary();
  console.trace(new Error('Connection terminated unexpectedly'));
  console.error('Retried 100 times, and still failed:', new Error('away'));
  console.error('completeJob: attempt 1/3 failed; retrying after 10ms. Error: away');
  expect(printed).not.toHaveBeenCalled();
  console.error('another fault');
  expect(printed).toHaveBeenCalledWith('another fault');
});
