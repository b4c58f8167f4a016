import { describe, expect, it } from 'vitest';
import { limitError } from './limits.ts';

const NOW = Date.parse('2026-11-15T12:00:00Z');

describe('how long a kind rests after a limit', () => {
  it.each([
    ['what the agent knows of the limit', { text: 'resets in 1 hour', toldAt: NOW + 5 }, NOW + 5],
    ['a minute where that moment has just gone by', { text: 'usage limit reached', toldAt: NOW - 1_000 }, NOW + 60_000],
    ['what the text says where it is long over', { text: 'resets in 1 hour', toldAt: 1_000 }, NOW + 3_600_000],
    ['what the text says', { text: 'usage limit reached, resets in 1 hour', retryAfterMs: 9 }, NOW + 3_600_000],
    ['what the remote asked for', { text: 'API Error: Request rejected (429)', retryAfterMs: 2_000 }, NOW + 2_000],
    ['a minute where it asked for centuries', { text: '429 Too Many Requests', retryAfterMs: 9e15 }, NOW + 60_000],
    ['a header that is quoted', { text: '429 Too Many Requests, retry-after: 2' }, NOW + 2_000],
    ['a minute for a rate limit without a time', { text: '429 Too Many Requests' }, NOW + 60_000],
    [
      'as long as the core decides for an account that is used up',
      { text: 'Credit balance is too low', retryAfterMs: 5 },
      undefined,
    ],
    ['the same for a quota', { text: 'You exceeded your current quota' }, undefined],
  ])('%s', (_name, told, resetsAt) => {
    expect(limitError({ detail: 'x', now: NOW, ...told })).toMatchObject({ kind: 'agent_usage_limit', resetsAt });
  });
});
