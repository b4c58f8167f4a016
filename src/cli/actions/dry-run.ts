import { shownState } from '../../domain/model/issue.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import { accessRemedy } from '../../app/adapters/access-remedy.ts';
import { reportDryRun } from '../../app/commands/dry-run.ts';
import type { SurveyedIssue } from '../../app/commands/survey.ts';
import { openLog } from '../logging.ts';
import { printJson, printTable } from '../output.ts';
import { openWorkflow } from '../problems.ts';
import { onInterrupt } from '../reading.ts';
import type { RunSettings } from '../run-settings.ts';
import { errorText } from '../../lib/error-text.ts';

/** One poll that only reads. Its records go to standard error, what came of it to standard output. */
export async function dryRun(args: RunSettings): Promise<number> {
  const workflow = await openWorkflow(args);
  if (!workflow) return 1;
  const { logger, secrets } = openLog(args, workflow.settings);
  secrets.add(workflow.secrets);
  const deps = { env: { ...process.env }, version: FORAY_VERSION, clock: { now: Date.now }, logger, secrets };
  try {
    const candidates = await reportDryRun(workflow, deps, onInterrupt());
    if (args.asJson) printJson(secrets.maskDeep(objectOf(candidates, workflow.settings.agent.maxConcurrentAgents)));
    else printTable(['ISSUE', 'STATE', 'DISPATCH', 'WHY NOT', 'TITLE'], candidates.map(rowOf), 'no candidates');
    return 0;
  } catch (error) {
    const remedy = error instanceof TrackerError ? accessRemedy(error) : undefined;
    logger.error('dry run failed', { error: errorText(error), remedy });
    return 1;
  }
}

function rowOf({ issue, verdict }: SurveyedIssue): readonly string[] {
  const why = verdict === null ? '' : `${verdict.reason}: ${verdict.detail}`;
  return [issue.identifier, shownState(issue), verdict === null ? 'yes' : 'no', why, issue.title];
}

function objectOf(candidates: readonly SurveyedIssue[], maxConcurrentAgents: number) {
  const dispatched = candidates.filter(({ verdict }) => verdict === null).length;
  return {
    candidates_fetched: candidates.length,
    would_dispatch: dispatched,
    ineligible: candidates.length - dispatched,
    max_concurrent_agents: maxConcurrentAgents,
    candidates: candidates.map(({ issue, verdict, globalSlots, stateSlots }) => ({
      issue_id: issue.id,
      issue_identifier: issue.identifier,
      title: issue.title,
      state: issue.state,
      state_assumed: issue.stateAssumed ?? false,
      would_dispatch: verdict === null,
      global_slots_available: globalSlots,
      state_slots_available: stateSlots,
      skip_reason: verdict?.reason ?? null,
      skip_detail: verdict?.detail ?? null,
    })),
  };
}
