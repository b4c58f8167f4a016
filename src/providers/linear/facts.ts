import type { ProviderFacts } from '../../ports/provider.ts';
import { check } from './checks.ts';
import { DEFAULTS, KIND, OPTIONS } from './settings.ts';

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
};
