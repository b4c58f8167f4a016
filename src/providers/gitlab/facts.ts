import type { ProviderFacts } from '../../ports/provider.ts';
import { endpointFault } from '../shared/endpoint.ts';
import { check } from './checks.ts';
import { DEFAULTS, KIND, OPTIONS, projectFault, TOKEN_VARIABLES } from './settings.ts';

/** GitLab issues, REST v4. States come from labels; only what the community edition has is relied on. */
export const facts: ProviderFacts = {
  kind: KIND,
  aliases: ['gitlab'],
  requires: { apiKey: true, project: true, endpoint: false, ciProject: true },
  expansion: { endpoint: 'anywhere', apiKey: 'anywhere', project: 'anywhere' },
  defaults: DEFAULTS,
  options: OPTIONS,
  check,
  connectionFaults: ({ endpoint, project }) => ({
    endpoint: endpointFault(endpoint),
    project: project === '' ? undefined : projectFault(project),
  }),
  nestsProjects: true,
  roles: ['labels', 'scm', 'ci', 'requests'],
  reviewTrust: 'anyone',
  tellsCollaborators: true,
  takesUnlabelled: true,
  exampleFilter: 'labels=agent',
  tokenVariables: TOKEN_VARIABLES,
  homeUrl: 'https://gitlab.com',
  // GitLab: "Webhooks", "Validate payloads by using a secret token"
  webhook: { signatureHeaders: ['x-gitlab-token'], proof: 'secret', deliveryHeaders: ['x-gitlab-event-uuid'] },
};
