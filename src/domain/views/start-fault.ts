import type { Notice } from '../model/notice.ts';
import { remedyFor } from '../model/remedies.ts';

/** Why the tracker could not be read at start, and when it is tried again. */
export interface StartFault {
  readonly at: number;
  readonly error: string;
  /** What a person can do about it. */
  readonly remedy: string | null;
  readonly nextTryAt: number;
}

/** What is to be said of the start after a notice: the last failure, until the polls tell more. */
export function startFaultAfter({ name, facts }: Notice, before: StartFault | null, at: number): StartFault | null {
  switch (name) {
    case 'tracker:start:failed':
      return { at, error: facts.error, remedy: remedyFor(facts.kind, facts.error), nextTryAt: at + facts.retryInMs };
    case 'tracker:start:postponed':
    case 'poll:tick:failed':
    case 'poll:tick:completed':
      return null;
    default:
      return before;
  }
}
