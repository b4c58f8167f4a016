import { surveyBoard, type SurveyDeps, type SurveyedIssue } from './survey.ts';
import { tellIfEndless } from '../endless.ts';
import { tellWarnings, type GoodWorkflow } from '../workflow.ts';

/** Exactly one poll, told record by record. Starts nothing, writes nothing. */
export async function reportDryRun(
  workflow: GoodWorkflow,
  deps: SurveyDeps,
  signal: AbortSignal,
): Promise<readonly SurveyedIssue[]> {
  const { logger } = deps;
  const { settings } = workflow;
  logger.info('dry run starting', { version: deps.version, workflow_path: workflow.path, tracker_kind: settings.tracker.kind });
  tellWarnings(workflow, logger);
  tellIfEndless(workflow, logger);
  const { candidates } = await surveyBoard(workflow, deps, signal);
  for (const candidate of candidates) logger.info('dry run candidate', attributesOf(candidate));
  const dispatched = candidates.filter(({ verdict }) => verdict === null).length;
  logger.info('dry run completed', {
    candidates_fetched: candidates.length,
    would_dispatch: dispatched,
    ineligible: candidates.length - dispatched,
    max_concurrent_agents: settings.agent.maxConcurrentAgents,
  });
  return candidates;
}

function attributesOf({ issue, verdict, globalSlots, stateSlots }: SurveyedIssue) {
  return {
    issue_id: issue.id,
    issue_identifier: issue.identifier,
    title: issue.title,
    state: issue.state,
    state_assumed: issue.stateAssumed,
    would_dispatch: verdict === null,
    global_slots_available: globalSlots,
    state_slots_available: stateSlots,
    skip_reason: verdict?.reason,
    skip_detail: verdict?.detail,
  };
}
