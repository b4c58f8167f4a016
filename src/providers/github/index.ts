import type { Provider } from '../../ports/provider.ts';
import { createLabel, readBoard } from './board.ts';
import { createCi } from './ci.ts';
import { facts } from './facts.ts';
import { createRequests } from './requests.ts';
import { createScm } from './scm.ts';
import { createTracker } from './tracker.ts';

/** The kind whole; what it is stands with its facts. */
export const provider: Provider = {
  ...facts,
  createTracker,
  readBoard,
  boardAtStart: 'all',
  createLabel,
  createScm,
  createCi,
  createRequests,
};
