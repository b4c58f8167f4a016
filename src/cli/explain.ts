import { explainBoard, isWell, type Explanation } from '../app/explain.ts';
import { utcMoment, printJson, printLine, printTable } from './output.ts';
import { loadGood, onInterrupt, surveyDeps, tellServiceOf } from './reading.ts';

export interface ExplainSettings {
  /** Null asks for every issue the service knows of. */
  readonly identifier: string | null;
  readonly workflowPath: string;
  readonly asJson: boolean;
}

/** Tells why issues are worked on or not. For one issue the exit code says whether all is well with it. */
export async function showExplanations({ identifier, workflowPath, asJson }: ExplainSettings): Promise<number> {
  const workflow = await loadGood(workflowPath, asJson);
  if (workflow === null) return 1;
  const deps = surveyDeps(workflow, asJson);
  const found = deps.secrets.maskDeep(await explainBoard(workflow, deps, identifier, onInterrupt()));
  if (!asJson) await tellServiceOf(workflow);
  if (asJson) printJson(found);
  else if (identifier === null) printTable(['ISSUE', 'STATE', 'DISPATCH', 'REASON', 'DETAIL'], found.map(rowOf), 'no issues');
  else for (const explanation of found) tell(explanation);
  return identifier === null || found.every(isWell) ? 0 : 1;
}

function rowOf({ identifier, state, would_dispatch: would, reason, detail }: Explanation): readonly string[] {
  return [identifier, state, would ? 'yes' : 'no', reason ?? '', detail ?? ''];
}

function tell({ identifier, state, would_dispatch: would, reason, detail, since, until, remedy }: Explanation): void {
  printLine(
    `${identifier}${state === '' ? '' : ` (${state})`}: ${would ? 'would be dispatched at the next poll' : (reason ?? '')}`,
  );
  if (detail) printLine(`  why:    ${detail}`);
  if (since) printLine(`  since:  ${utcMoment(Date.parse(since))}`);
  if (until) printLine(`  until:  ${utcMoment(Date.parse(until))}`);
  if (remedy) printLine(`  remedy: ${remedy}`);
}
