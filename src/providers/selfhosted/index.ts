import type { Provider } from '../../ports/provider.ts';
import { checkSelfhosted } from './checks.ts';
import { createSelfhostedCi } from './ci.ts';
import { createSelfhostedScm } from './scm.ts';
import { KIND, OPTIONS } from './settings.ts';
import { createSelfhostedTracker } from './tracker.ts';

/** Gitea and Forgejo, REST v1. States come from labels; there is no default host. */
export const selfhostedProvider: Provider = {
  kind: KIND,
  aliases: ['gitea', 'forgejo'],
  requires: { apiKey: true, project: true, endpoint: true },
  expansion: { endpoint: 'anywhere', apiKey: 'anywhere', project: 'anywhere' },
  defaults: { endpoint: '', activeStates: [], terminalStates: [], activeStatesGateDispatch: true },
  options: OPTIONS,
  check: checkSelfhosted,
  createTracker: (settings, deps) => createSelfhostedTracker(settings, deps),
  createScm: (connection, deps) => createSelfhostedScm(connection, deps),
  createCi: (connection, deps) => createSelfhostedCi(connection, deps),
};
