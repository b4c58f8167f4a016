import os from 'node:os';
import { AGENT_FACTS } from '../../agents/facts.ts';
import { readWorkflow } from '../../config/workflow.ts';
import type { Env } from '../../config/expand.ts';
import type { Problem } from '../../domain/model/problem.ts';
import type { Settings } from '../../domain/model/settings.ts';
import type { ProviderFacts } from '../../ports/provider.ts';
import { PROVIDER_FACTS } from '../../providers/facts.ts';
import { workflowText, type Answers } from './workflow-text.ts';

/** What is known of a tracker kind before anything is asked. */
export interface KindFacts {
  readonly name: string;
  readonly needs: ProviderFacts['requires'];
  /** The variable its token is kept in by convention. */
  readonly tokenVariables: readonly string[];
  /** Where an open issue without a state label is taken for one in the first active state: a filter, as an example, that leaves most of them out. */
  readonly narrowing: string | null;
}

const TOKEN_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  github: ['FORGE_TOKEN', 'GITHUB_TOKEN'],
  gitlab: ['GITLAB_TOKEN'],
  gitea: ['GITEA_TOKEN', 'FORGEJO_TOKEN'],
  jira: ['JIRA_API_KEY'],
  linear: ['LINEAR_API_KEY'],
};

/** Issues of one label, in the query language of each kind that takes those without one. */
const LABEL_FILTERS: Readonly<Record<string, string>> = { github: 'label:agent', gitlab: 'labels=agent' };

/** The names people use, with what each needs. */
const KINDS: readonly KindFacts[] = PROVIDER_FACTS.map(({ kind, aliases, requires, takesUnlabelled }) => {
  const name = aliases[0] ?? kind;
  const narrowing = takesUnlabelled === true ? (LABEL_FILTERS[name] ?? null) : null;
  return { name, needs: requires, tokenVariables: TOKEN_VARIABLES[name] ?? [], narrowing };
});

/** Every name that people may call a tracker by, for a kind that has several each of them. */
export const TRACKER_NAMES: readonly string[] = PROVIDER_FACTS.flatMap(({ kind, aliases }) =>
  aliases.length === 0 ? [kind] : aliases,
);

/** Whether an agent changes files, so that it needs something to work on. */
export function startsProgram(agent: string): boolean {
  const kind = AGENT_FACTS.find((candidate) => candidate.kind === agent);
  return kind === undefined || kind.requiresCommand || kind.defaultCommand !== null;
}

export const AGENT_NAMES: readonly string[] = AGENT_FACTS.map(({ kind }) => kind);

/** The kind of this name or alias, or null. */
export function kindNamed(name: string): KindFacts | null {
  const provider = providerNamed(name);
  return provider ? (KINDS[PROVIDER_FACTS.indexOf(provider)] ?? null) : null;
}

function providerNamed(name: string): ProviderFacts | undefined {
  const wanted = name.toLowerCase();
  return PROVIDER_FACTS.find(({ kind, aliases }) => kind === wanted || aliases.includes(wanted));
}

export interface WorkflowDraft {
  readonly text: string;
  readonly problems: readonly Problem[];
  /** Null when there is an error. */
  readonly settings: Settings | null;
  readonly secrets: readonly string[];
}

/** The workflow file for these answers, held against every check. */
export function draftOf(file: string, answers: Answers, env: Env): WorkflowDraft {
  const isForge = providerNamed(answers.tracker)?.roles.includes('requests') ?? false;
  const text = workflowText(answers, { isForge, narrowing: kindNamed(answers.tracker)?.narrowing ?? null });
  const context = { env, homeDir: os.homedir(), providers: PROVIDER_FACTS, agentKinds: AGENT_FACTS, checkTemplate: () => [] };
  const { problems, settings, secrets } = readWorkflow(text, file, context);
  return { text, problems, settings, secrets };
}
