import type { Provider } from '../../ports/provider.ts';
import { createLabel, readBoard } from './board.ts';
import { check } from './checks.ts';
import { createCi } from './ci.ts';
import { createRequests } from './requests.ts';
import { createScm } from './scm.ts';
import { DEFAULTS, KIND, OPTIONS } from './settings.ts';
import { createTracker } from './tracker.ts';

/** GitHub issues, REST. States come from labels; GitHub Enterprise Server works by setting the endpoint. */
export const provider: Provider = {
  kind: KIND,
  aliases: ['github'],
  requires: { apiKey: true, project: true, endpoint: false },
  expansion: { endpoint: 'whole', apiKey: 'anywhere', project: 'anywhere' },
  defaults: DEFAULTS,
  options: OPTIONS,
  check,
  reviewTrust: 'collaborators',
  tellsCollaborators: true,
  takesUnlabelled: true,
  createTracker,
  readBoard,
  createLabel,
  createScm,
  createCi,
  createRequests,
};
