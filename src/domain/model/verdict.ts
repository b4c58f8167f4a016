import type { ParkReason } from './claim.ts';
import type { Fault } from './errors.ts';

/** What follows a run, decided from how it ended and from the freshest state of the issue. */
export type Verdict =
  | { readonly then: 'hand-off'; readonly target: string }
  | { readonly then: 'continue' }
  | { readonly then: 'retry'; readonly fault: Fault }
  | { readonly then: 'park'; readonly reason: ParkReason; readonly detail: string }
  | { readonly then: 'resume' }
  | { readonly then: 'release'; readonly reason: string; readonly terminal: boolean };
