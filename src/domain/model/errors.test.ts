import { describe, expect, it } from 'vitest';
import { ScmConflictError, TrackerError } from './errors.ts';

const LONG = `the cause ${'💥'.repeat(50_000)} the remedy`;

describe('what a remote said at great length', () => {
  it.each([
    new TrackerError({ kind: 'tracker_payload_error', method: 'GET', path: '/x', detail: LONG }),
    new ScmConflictError(LONG),
  ])('is shortened in the middle: $name', ({ message }) => {
    expect(message.length).toBeLessThan(2_100);
    expect(message).toMatch(/the cause .* … .* the remedy$/);
    expect(message.isWellFormed()).toBe(true);
  });

  it('is told to another machine as short', () => {
    const error = new TrackerError({ kind: 'tracker_payload_error', method: 'GET', path: '/x', detail: LONG });
    expect(error.facts.detail).toBe(error.detail);
    expect(error.detail.length).toBeLessThan(2_100);
  });
});
