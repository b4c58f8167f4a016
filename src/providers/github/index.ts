import type { Provider } from '../../ports/provider.ts';
import { check } from './checks.ts';
import { createGithubCi } from './ci.ts';
import { createGithubScm } from './scm.ts';
import { DEFAULT_ACTIVE_STATES, DEFAULT_ENDPOINT, DEFAULT_TERMINAL_STATES, KIND, optionSchema } from './settings.ts';
import { createGithubTracker } from './tracker.ts';

export const githubProvider: Provider = {
  kind: KIND,
  aliases: ['github'],
  requires: { apiKey: true, project: true, endpoint: false },
  expansion: { endpoint: 'whole', apiKey: 'anywhere', project: 'anywhere' },
  defaults: {
    endpoint: DEFAULT_ENDPOINT,
    activeStates: DEFAULT_ACTIVE_STATES,
    terminalStates: DEFAULT_TERMINAL_STATES,
    activeStatesGateDispatch: true,
  },
  options: optionSchema,
  check,
  createTracker: (settings, deps) => createGithubTracker(settings, deps),
  createScm: createGithubScm,
  createCi: createGithubCi,
};
