import type { Provider } from '../../ports/provider.ts';
import { checkNsproject } from './checks.ts';
import { createNsprojectCi } from './ci.ts';
import { createNsprojectScm } from './scm.ts';
import { DEFAULT_ACTIVE_STATES, DEFAULT_ENDPOINT, DEFAULT_TERMINAL_STATES, KIND, optionsSchema } from './settings.ts';
import { createNsprojectTracker } from './tracker.ts';

/** GitLab by its REST API, version 4. Only what the community edition has is relied on. */
export const nsprojectProvider: Provider = {
  kind: KIND,
  aliases: ['gitlab'],
  requires: { apiKey: true, project: true, endpoint: false, ciProject: true },
  expansion: { endpoint: 'anywhere', apiKey: 'anywhere', project: 'anywhere' },
  defaults: {
    endpoint: DEFAULT_ENDPOINT,
    activeStates: DEFAULT_ACTIVE_STATES,
    terminalStates: DEFAULT_TERMINAL_STATES,
    activeStatesGateDispatch: false,
  },
  options: optionsSchema,
  check: checkNsproject,
  createTracker: (settings, deps) => createNsprojectTracker(settings, deps),
  createScm: (connection, deps) => createNsprojectScm(connection, deps),
  createCi: (connection, deps) => createNsprojectCi(connection, deps),
};
