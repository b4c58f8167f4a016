import type { Durable } from '../../domain/model/durable.ts';
import { NO_SETTINGS } from '../../domain/model/no-settings.ts';
import type { Settings } from '../../domain/model/settings.ts';
import type { State } from '../../domain/model/state.ts';
import { rebuilt } from '../../domain/recover.ts';

export interface RecordedAround extends Pick<State, 'endingElsewhere'> {
  /** Null for a file that cannot be read. */
  readonly settings: Settings | null;
  readonly now: number;
}

/** The records of a service at work as it judges them itself, but for what it keeps in memory alone. */
export function recordedState(durable: Durable, { settings, endingElsewhere, now }: RecordedAround): State {
  return rebuilt(settings ?? UNTOLD, durable, 'records', now, endingElsewhere);
}

/** Of a file that cannot be read: how many slots there are nobody can tell. */
const UNTOLD: Settings = { ...NO_SETTINGS, agent: { ...NO_SETTINGS.agent, maxConcurrentAgents: Infinity } };
