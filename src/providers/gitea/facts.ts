import type { ProviderFacts } from '../../ports/provider.ts';
import { endpointFault } from '../shared/endpoint.ts';
import { check } from './checks.ts';
import { DEFAULTS, KIND, OPTIONS, TOKEN_VARIABLES } from './settings.ts';

/** Gitea and Forgejo issues, REST v1. States come from labels; there is no default host. */
export const facts: ProviderFacts = {
  kind: KIND,
  aliases: ['gitea', 'forgejo'],
  requires: { apiKey: true, project: true, endpoint: true },
  expansion: { endpoint: 'anywhere', apiKey: 'anywhere', project: 'anywhere' },
  defaults: DEFAULTS,
  options: OPTIONS,
  check,
  connectionFaults: ({ endpoint }) => ({ endpoint: endpointFault(endpoint) }),
  roles: ['labels', 'scm', 'ci', 'requests'],
  reviewTrust: 'collaborators',
  tellsCollaborators: true,
  tokenVariables: TOKEN_VARIABLES,
  // Gitea, Forgejo: "Webhooks"
  webhook: {
    signatureHeaders: ['x-gitea-signature', 'x-forgejo-signature'],
    proof: 'hmac-sha256',
    deliveryHeaders: ['x-gitea-delivery', 'x-forgejo-delivery'],
  },
};
