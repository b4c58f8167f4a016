import type { Provider } from '../../ports/provider.ts';
import { checkLinear } from './checks.ts';
import { DEFAULT_ACTIVE_STATES, DEFAULT_ENDPOINT, DEFAULT_TERMINAL_STATES, KIND, OPTIONS } from './settings.ts';
import { createLinearTracker } from './tracker.ts';

/** Linear, by its one GraphQL endpoint. States are the team's workflow states; the project is a team key. */
export const linearProvider: Provider = {
  kind: KIND,
  aliases: ['linear'],
  requires: { apiKey: true, project: true, endpoint: false },
  expansion: { endpoint: 'none', apiKey: 'anywhere', project: 'none' },
  defaults: {
    endpoint: DEFAULT_ENDPOINT,
    activeStates: DEFAULT_ACTIVE_STATES,
    terminalStates: DEFAULT_TERMINAL_STATES,
    activeStatesGateDispatch: true,
  },
  options: OPTIONS,
  check: checkLinear,
  createTracker: (settings, deps) => createLinearTracker(settings, deps),
};
