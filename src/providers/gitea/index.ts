import type { Provider } from '../../ports/provider.ts';
import { createLabel, readBoard } from './board.ts';
import { check } from './checks.ts';
import { createCi } from './ci.ts';
import { createRequests } from './requests.ts';
import { createScm } from './scm.ts';
import { DEFAULTS, KIND, OPTIONS } from './settings.ts';
import { createTracker } from './tracker.ts';

/** Gitea and Forgejo issues, REST v1. States come from labels; there is no default host. */
export const provider: Provider = {
  kind: KIND,
  aliases: ['gitea', 'forgejo'],
  requires: { apiKey: true, project: true, endpoint: true },
  expansion: { endpoint: 'anywhere', apiKey: 'anywhere', project: 'anywhere' },
  defaults: DEFAULTS,
  options: OPTIONS,
  check,
  reviewTrust: 'collaborators',
  tellsCollaborators: true,
  createTracker,
  readBoard,
  createLabel,
  createScm,
  createCi,
  createRequests,
};
