import { expect, it } from 'vitest';
import { AGENT_FACTS } from '../../src/agents/facts.ts';
import { command as init } from '../../src/cli/commands/init.ts';
import { readWorkflow } from '../../src/config/workflow.ts';
import { PROVIDER_FACTS } from '../../src/providers/facts.ts';

/* Texts that name the kinds in an order of their own: a kind that is added must be added to them. */

/** As people call them: by the names of the vendors where there are any. */
function namesOf(providers: typeof PROVIDER_FACTS): readonly string[] {
  return providers.flatMap(({ kind, aliases }) => (aliases.length > 0 ? aliases : [kind])).toSorted();
}

function wordsOf(text: string): readonly string[] {
  return text.split(/, | or /).toSorted();
}

it('foray init offers every tracker and every agent', () => {
  const summaryOf = (flag: string): string => init.flags.find(({ name }) => name === flag)?.summary ?? '';
  expect(wordsOf(summaryOf('tracker'))).toEqual(namesOf(PROVIDER_FACTS));
  const agents = AGENT_FACTS.map(({ kind }) => kind);
  expect(wordsOf(summaryOf('agent').replace(' (default)', ''))).toEqual(agents.toSorted());
});

it('a reaction without a provider is told every forge', () => {
  const text = '---\ntracker: { kind: jira }\nreactions: { auto_merge: { strategy: squash } }\n---\nDo it.\n';
  const context = { env: {}, homeDir: '/home/op', providers: PROVIDER_FACTS, agentKinds: AGENT_FACTS, checkTemplate: () => [] };
  const { problems } = readWorkflow(text, '/srv/WORKFLOW.md', context);
  const told = problems.find(({ check }) => check === 'reactions.auto_merge.provider.missing')?.message ?? '';
  const forges = PROVIDER_FACTS.filter(({ roles }) => roles.includes('scm'));
  expect(wordsOf(/write provider: (.*), or leave/.exec(told)?.[1] ?? '')).toEqual(namesOf(forges));
});
