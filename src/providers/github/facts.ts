import type { ProviderFacts } from '../../ports/provider.ts';
import { endpointFault } from '../shared/endpoint.ts';
import { check } from './checks.ts';
import { DEFAULTS, KIND, OPTIONS, TOKEN_VARIABLES } from './settings.ts';

/** GitHub issues, REST. States come from labels; GitHub Enterprise Server works by setting the endpoint. */
export const facts: ProviderFacts = {
  kind: KIND,
  aliases: ['github'],
  requires: { apiKey: true, project: true, endpoint: false },
  expansion: { endpoint: 'whole', apiKey: 'anywhere', project: 'anywhere' },
  defaults: DEFAULTS,
  options: OPTIONS,
  check,
  connectionFaults: ({ endpoint }) => ({ endpoint: endpointFault(endpoint) }),
  roles: ['labels', 'scm', 'ci', 'requests'],
  reviewTrust: 'collaborators',
  tellsCollaborators: true,
  takesUnlabelled: true,
  exampleFilter: 'label:agent',
  choosesUserAgent: true,
  tokenVariables: TOKEN_VARIABLES,
  homeUrl: 'https://github.com',
  // GitHub: "Validating webhook deliveries"
  webhook: {
    signatureHeaders: ['x-hub-signature-256'],
    proof: 'hmac-sha256',
    prefix: 'sha256=',
    deliveryHeaders: ['x-github-delivery'],
  },
};
