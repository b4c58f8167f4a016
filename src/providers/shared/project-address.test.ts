import { expect, it } from 'vitest';
import { PROVIDER_FACTS } from '../facts.ts';

const ROWS: readonly (readonly [kind: string, project: string, instead: string])[] = [
  ['repoissues', 'https://github.com/acme/shop', 'acme/shop'],
  ['repoissues', 'https://github.com/acme/shop/issues?q=is%3Aopen', 'acme/shop'],
  ['repoissues', 'git@github.com:acme/shop.git', 'acme/shop'],
  ['selfhosted', 'https://git.example.com/acme/shop.git', 'acme/shop'],
  ['nsproject', 'https://gitlab.com/group/sub/shop/-/issues', 'group/sub/shop'],
  ['nsproject', 'https://someone:secret@gitlab.com/group/shop', 'group/shop'],
  ['wfboard', 'https://acme.atlassian.net/browse/ABC-7', 'ABC'],
  ['wfboard', 'https://acme.atlassian.net/jira/software/projects/ABC/boards/1', 'ABC'],
  ['graphql', 'https://linear.app/acme/team/ENG/all', 'ENG'],
  ['graphql', 'https://linear.app/acme/issue/ENG-7/title', 'ENG'],
];

it.each(ROWS)('%s: of %s is said what to write', (kind, project, instead) => {
  const facts = PROVIDER_FACTS.find((candidate) => candidate.kind === kind);
  const problems = facts?.check({ ...NOTHING, project }) ?? [];
  expect(problems.map(({ message }) => message).join('\n')).toContain(`an address is not needed, write ${instead}`);
});

const NOTHING = {
  apiKey: 'someone@example.com:token',
  endpoint: 'https://example.com',
  activeStates: ['a'],
  terminalStates: ['b'],
  handoffState: null,
  inProgressState: null,
  queryFilter: null,
  options: {},
  env: {},
};
