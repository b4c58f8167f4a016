import { describe, expect, it } from 'vitest';
import {
  ASKING_WAITS_MS,
  CONFIRMED_MS,
  GUARD_BEAT_MS,
  LEADER_ABSENT_MS,
  LEADER_ANSWERS_MS,
  LEADER_AT_WORK_MS,
  LEADER_BEAT_MS,
  LEADER_CUT_OFF_MS,
  LEADER_SILENT_MS,
  LEADER_STOPPED_MS,
  MOVE_WAITS_MS,
  SESSIONS_OVER_MS,
  WORKER_BEAT_MS,
  WORKER_CUT_OFF_MS,
  WORKER_LOST_MS,
  WORKER_QUIET_MS,
  WORKER_STOPPED_MS,
  WORKER_SURE_MS,
} from './lease-times.ts';

/** Each is less than the next. */
function expectGrowing(...times: readonly number[]): void {
  times.slice(1).forEach((time, at) => expect(time).toBeGreaterThan(times[at] ?? Infinity));
}

describe('a leader', () => {
  it('is confirmed by each sign of life, and nobody takes over while it is', () => {
    expectGrowing(LEADER_BEAT_MS, CONFIRMED_MS, LEADER_ABSENT_MS, LEADER_SILENT_MS);
  });

  it('and its hosts have ended what runs before the next one starts it, whatever befell them', () => {
    expectGrowing(LEADER_SILENT_MS, LEADER_CUT_OFF_MS + LEADER_BEAT_MS, SESSIONS_OVER_MS);
    expectGrowing(GUARD_BEAT_MS, LEADER_STOPPED_MS + GUARD_BEAT_MS, SESSIONS_OVER_MS);
  });

  it('is asked while it speaks, and waited for until another one could have taken over', () => {
    expectGrowing(LEADER_BEAT_MS, LEADER_ANSWERS_MS, LEADER_SILENT_MS, LEADER_AT_WORK_MS, SESSIONS_OVER_MS);
    expectGrowing(LEADER_SILENT_MS, ASKING_WAITS_MS);
    expectGrowing(LEADER_ABSENT_MS, MOVE_WAITS_MS);
  });
});

describe('a worker', () => {
  it('has ended its runs before they are given to others, whatever befell it', () => {
    expectGrowing(WORKER_BEAT_MS, WORKER_SURE_MS, WORKER_CUT_OFF_MS + WORKER_BEAT_MS, WORKER_LOST_MS);
    expectGrowing(GUARD_BEAT_MS, WORKER_STOPPED_MS + GUARD_BEAT_MS, WORKER_LOST_MS);
  });

  it('that falls silent gets nothing new before it is lost', () => {
    expectGrowing(WORKER_BEAT_MS, WORKER_QUIET_MS, WORKER_CUT_OFF_MS, WORKER_LOST_MS);
  });
});

it('what a host counts is whole seconds', () => {
  for (const ms of [LEADER_STOPPED_MS, WORKER_STOPPED_MS]) expect(ms % 1_000).toBe(0);
});
