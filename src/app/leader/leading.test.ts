import { describe, expect, it } from 'vitest';
import { FAR_SIDE_PATIENCE_MS, LEADER_BEAT_MS, SESSIONS_OVER_MS } from '../../domain/model/lease-times.ts';
import { BROKEN_ENDS_MS } from '../../lib/ssh/index.ts';

describe('a leader whose machine is lost', () => {
  it('has no agent left on an SSH host when the next one starts its runs again', () => {
    // The host may have heard of it a beat after the database did, and takes a moment to end what runs there.
    expect(FAR_SIDE_PATIENCE_MS + LEADER_BEAT_MS + BROKEN_ENDS_MS).toBeLessThan(SESSIONS_OVER_MS);
  });
});
