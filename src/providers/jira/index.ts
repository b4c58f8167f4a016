import type { Provider } from '../../ports/provider.ts';
import { readBoard } from './board.ts';
import { facts } from './facts.ts';
import { createTracker } from './tracker.ts';

/** The kind whole; what it is stands with its facts. */
export const provider: Provider = {
  ...facts,
  createTracker,
  readBoard,
  boardAtStart: 'all',
};
