import type { Provider } from '../../ports/provider.ts';
import { checkJira } from './checks.ts';
import { DEFAULT_ACTIVE_STATES, DEFAULT_TERMINAL_STATES, KIND, OPTIONS } from './settings.ts';
import { createJiraTracker } from './tracker.ts';

/** Jira Cloud, REST v3. States are the statuses of the project's workflow; server and data-center editions are not supported. */
export const jiraProvider: Provider = {
  kind: KIND,
  aliases: ['jira'],
  requires: { apiKey: true, project: true, endpoint: true },
  expansion: { endpoint: 'whole', apiKey: 'anywhere', project: 'none' },
  defaults: {
    endpoint: '',
    activeStates: DEFAULT_ACTIVE_STATES,
    terminalStates: DEFAULT_TERMINAL_STATES,
    activeStatesGateDispatch: true,
  },
  options: OPTIONS,
  check: checkJira,
  createTracker: (settings, deps) => createJiraTracker(settings, deps),
};
