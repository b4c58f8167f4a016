import type { ProviderFacts } from '../../ports/provider.ts';
import { check } from './checks.ts';
import { DEFAULTS, KIND, OPTIONS } from './settings.ts';

/** Jira Cloud issues, REST v3. States are the statuses of the project's workflow; server and data-center editions are not supported. */
export const facts: ProviderFacts = {
  kind: KIND,
  aliases: ['jira'],
  requires: { apiKey: true, project: true, endpoint: true },
  expansion: { endpoint: 'whole', apiKey: 'anywhere', project: 'none' },
  defaults: DEFAULTS,
  options: OPTIONS,
  check,
  roles: [],
  choosesUserAgent: true,
  tokenVariables: ['JIRA_API_KEY'],
  tokenForm: 'email:token',
  // Jira Cloud: "Webhooks", "Secure admin webhooks"
  webhook: {
    signatureHeaders: ['x-hub-signature'],
    proof: 'hmac-sha256',
    prefix: 'sha256=',
    deliveryHeaders: ['x-atlassian-webhook-identifier'],
  },
};
