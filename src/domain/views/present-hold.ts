import type { Hold } from '../model/hold.ts';
import { presentHold, type Moment } from '../rules/eligibility.ts';

/** A hold of the last poll as it is now. */
export function presentOf(moment: Moment, hold: Hold): Hold {
  return { ...hold, ...presentHold(moment, hold) };
}
