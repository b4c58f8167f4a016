import type { ProviderFacts } from '../../ports/provider.ts';
import { check } from './checks.ts';
import { DEFAULTS, KIND, OPTIONS, TOKEN_VARIABLES } from './settings.ts';

/** Linear issues, by its one GraphQL endpoint. States are the team's workflow states; the project is a team key. */
export const facts: ProviderFacts = {
  kind: KIND,
  aliases: ['linear'],
  requires: { apiKey: true, project: true, endpoint: false },
  expansion: { endpoint: 'none', apiKey: 'anywhere', project: 'none' },
  defaults: DEFAULTS,
  options: OPTIONS,
  check,
  roles: [],
  tokenVariables: TOKEN_VARIABLES,
  // Linear: "Webhooks", "Securing webhooks"
  webhook: { signatureHeaders: ['linear-signature'], proof: 'hmac-sha256', deliveryHeaders: ['linear-delivery'] },
};
