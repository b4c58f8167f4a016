import os from 'node:os';
import { AGENT_FACTS } from '../../agents/facts.ts';
import { readWorkflow } from '../../config/workflow.ts';
import type { Env } from '../../config/expand.ts';
import type { Problem } from '../../domain/model/problem.ts';
import type { Settings } from '../../domain/model/settings.ts';
import type { ProviderFacts } from '../../ports/provider.ts';
import { PROVIDER_FACTS } from '../../providers/facts.ts';
import { workflowText, type Answers } from './workflow-text.ts';

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
export function kindNamed(name: string): ProviderFacts | null {
  const wanted = name.toLowerCase();
  return PROVIDER_FACTS.find(({ kind, aliases }) => kind === wanted || aliases.includes(wanted)) ?? null;
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
  const text = workflowText(answers, kindNamed(answers.tracker));
  const context = { env, homeDir: os.homedir(), providers: PROVIDER_FACTS, agentKinds: AGENT_FACTS, checkTemplate: () => [] };
  const { problems, settings, secrets } = readWorkflow(text, file, context);
  return { text, problems, settings, secrets };
}
