import type { ProviderFacts } from '../../ports/provider.ts';
import { check } from './checks.ts';
import { DEFAULTS, KIND, OPTIONS, realLocationOf } from './settings.ts';

/** Issues in a JSON file or in a directory of Markdown files. No credentials, no network. */
export const facts: ProviderFacts = {
  kind: KIND,
  aliases: [],
  requires: { apiKey: false, project: false, endpoint: false },
  expansion: { endpoint: 'none', apiKey: 'none', project: 'none' },
  defaults: DEFAULTS,
  place: { key: 'path', words: 'path of the issues', locate: realLocationOf },
  options: OPTIONS,
  check,
  roles: [],
  refusesOverlap: true,
};
