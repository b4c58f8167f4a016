import type { Provider } from '../../ports/provider.ts';
import { createLabel, readBoard } from './board.ts';
import { check } from './checks.ts';
import { createCi } from './ci.ts';
import { createRequests } from './requests.ts';
import { createScm } from './scm.ts';
import { DEFAULTS, KIND, OPTIONS } from './settings.ts';
import { createTracker } from './tracker.ts';

/** GitLab issues, REST v4. States come from labels; only what the community edition has is relied on. */
export const provider: Provider = {
  kind: KIND,
  aliases: ['gitlab'],
  requires: { apiKey: true, project: true, endpoint: false, ciProject: true },
  expansion: { endpoint: 'anywhere', apiKey: 'anywhere', project: 'anywhere' },
  defaults: DEFAULTS,
  options: OPTIONS,
  check,
  reviewTrust: 'anyone',
  tellsCollaborators: true,
  takesUnlabelled: true,
  createTracker,
  readBoard,
  createLabel,
  createScm,
  createCi,
  createRequests,
};
