import type { Env } from '../config/expand.ts';
import os from 'node:os';
import { AGENT_FACTS } from '../agents/facts.ts';
import { placedAt } from '../config/document.ts';
import { problemAttributes } from '../config/format.ts';
import { loadWorkflow, type LoadedWorkflow } from '../config/workflow.ts';
import { TemplateError } from '../domain/model/errors.ts';
import type { Problem } from '../domain/model/problem.ts';
import type { Settings } from '../domain/model/settings.ts';
import type { Logger } from '../ports/runtime.ts';
import type { TrackerNames } from '../ports/store.ts';
import { analyseTemplate } from '../prompt/analyse.ts';
import { findLiquidTags } from '../prompt/liquid.ts';
import { parseTemplate } from '../prompt/parse.ts';
import { PROVIDER_FACTS } from '../providers/facts.ts';

/** A workflow file that can be run. */
export interface GoodWorkflow extends LoadedWorkflow {
  readonly settings: Settings;
  readonly names: TrackerNames;
}

/**
 * The one way a workflow file is read: validate, start-up, reload and dry run all come through here. With `place` it is read as
 * if it stood there.
 */
export function readWorkflowFile(path: string, env: Env, place = path): Promise<LoadedWorkflow> {
  const context = { env, homeDir: os.homedir(), providers: PROVIDER_FACTS, agentKinds: AGENT_FACTS, checkTemplate };
  return loadWorkflow(path, context, place);
}

/** Thrown when a workflow file has errors; the problems are for the operator, one line each. */
export class WorkflowFault extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super('the workflow file has errors');
    this.problems = problems;
  }
}

export function requireGood(loaded: LoadedWorkflow): GoodWorkflow {
  const { settings } = loaded;
  if (settings === null) throw new WorkflowFault(loaded.problems);
  const { identity } = settings.tracker;
  return { ...loaded, settings, names: { identity, configured: identity, label: identity } };
}

/** Warnings are records of the service; only `foray validate` prints them as lines. */
export function tellWarnings({ problems, path }: Pick<LoadedWorkflow, 'problems' | 'path'>, logger: Pick<Logger, 'warn'>): void {
  for (const problem of problems)
    if (problem.severity === 'warning') logger.warn('workflow warning', problemAttributes(problem, path));
}

/** Faults of the prompt template, found without rendering it. */
function checkTemplate(body: string, firstLine: number): readonly Problem[] {
  const liquid = findLiquidTags(body, firstLine).map(({ message, line, column }) =>
    placedAt({ severity: 'warning', check: 'template.liquid', message }, { line, column }),
  );
  return [...liquid, ...checkSyntax(body, firstLine)];
}

function checkSyntax(body: string, firstLine: number): readonly Problem[] {
  try {
    return analyseTemplate(parseTemplate(body, { firstLine })).map(({ severity, check, message, line, column }) =>
      placedAt({ severity, check, message }, { line, column }),
    );
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const { detail: message, line, column } = error;
    return [placedAt({ severity: 'error', check: 'template.parse', message }, { line, column })];
  }
}
