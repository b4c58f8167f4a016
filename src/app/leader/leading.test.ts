import { describe, expect, it } from 'vitest';
import { SILENCE_ENDS_MS } from '../../lib/ssh/index.ts';
import { BEAT_MS, SESSIONS_OVER_MS } from '../../store/postgres/index.ts';

describe('a leader whose machine is lost', () => {
  it('has no agent left on an SSH host when the next one starts its runs again', () => {
    // The host may have heard of it a beat after the database did, and takes a moment to end what runs there.
    expect(SILENCE_ENDS_MS + BEAT_MS + 5_000).toBeLessThan(SESSIONS_OVER_MS);
  });
});
