import type { Provider } from '../../ports/provider.ts';
import { checkGitea } from './checks.ts';
import { createGiteaCi } from './ci.ts';
import { createGiteaScm } from './scm.ts';
import { KIND, OPTIONS } from './settings.ts';
import { createGiteaTracker } from './tracker.ts';

/** Gitea and Forgejo, REST v1. States come from labels; there is no default host. */
export const giteaProvider: Provider = {
  kind: KIND,
  aliases: ['gitea', 'forgejo'],
  requires: { apiKey: true, project: true, endpoint: true },
  expansion: { endpoint: 'anywhere', apiKey: 'anywhere', project: 'anywhere' },
  defaults: { endpoint: '', activeStates: [], terminalStates: [], activeStatesGateDispatch: true },
  options: OPTIONS,
  check: checkGitea,
  createTracker: (settings, deps) => createGiteaTracker(settings, deps),
  createScm: (connection, deps) => createGiteaScm(connection, deps),
  createCi: (connection, deps) => createGiteaCi(connection, deps),
};
