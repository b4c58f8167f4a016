import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CONFIRMED_MS } from '../../domain/model/lease-times.ts';
import { createContact, momentNow } from './contact.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** Whether the promise is settled by now, and how. */
async function outcomeOf(promise: Promise<void>): Promise<string> {
  const told = promise.then(
    () => 'may write',
    (error: unknown) => String(error),
  );
  return Promise.race([told, new Promise<string>((resolve) => setImmediate(() => resolve('waits')))]);
}

describe('the confirmation of a leader', () => {
  it('holds for two seconds', async () => {
    const contact = createContact();
    vi.advanceTimersByTime(CONFIRMED_MS - 1);
    expect(await outcomeOf(contact.fresh())).toBe('may write');
    vi.advanceTimersByTime(1);
    const asked = contact.fresh();
    expect(await outcomeOf(asked)).toBe('waits');
    contact.confirmed(momentNow());
    expect(await outcomeOf(asked)).toBe('may write');
  });

  it('counts from the question: an answer read after a long sleep confirms nothing', async () => {
    const contact = createContact();
    const question = momentNow();
    vi.advanceTimersByTime(20_000);
    const asked = contact.fresh();
    contact.confirmed(question);
    expect(await outcomeOf(asked)).toBe('waits');
    expect(await outcomeOf(contact.fresh())).toBe('waits');
    contact.gone('another one leads');
    expect(await outcomeOf(asked)).toBe('Error: another one leads');
    expect(await outcomeOf(contact.fresh())).toBe('Error: another one leads');
  });

  it('is over after a machine slept, whose steady clock stood still', async () => {
    const contact = createContact();
    vi.setSystemTime(Date.now() + 60_000);
    expect(await outcomeOf(contact.fresh())).toBe('waits');
  });

  it('is not made younger by a clock that was set back', async () => {
    const contact = createContact();
    vi.setSystemTime(Date.now() - 3_600_000);
    expect(await outcomeOf(contact.fresh())).toBe('may write');
    vi.advanceTimersByTime(CONFIRMED_MS);
    expect(await outcomeOf(contact.fresh())).toBe('waits');
  });
});
