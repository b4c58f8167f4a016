import type { Provider } from '../../ports/provider.ts';
import { checkGitlab } from './checks.ts';
import { createGitlabCi } from './ci.ts';
import { createGitlabScm } from './scm.ts';
import { DEFAULT_ACTIVE_STATES, DEFAULT_ENDPOINT, DEFAULT_TERMINAL_STATES, KIND, optionsSchema } from './settings.ts';
import { createGitlabTracker } from './tracker.ts';

/** GitLab by its REST API, version 4. Only what the community edition has is relied on. */
export const gitlabProvider: Provider = {
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
  check: checkGitlab,
  createTracker: (settings, deps) => createGitlabTracker(settings, deps),
  createScm: (connection, deps) => createGitlabScm(connection, deps),
  createCi: (connection, deps) => createGitlabCi(connection, deps),
};
