import { databaseInForce, planOf, type Change } from '../../app/commands/plan.ts';
import { readWorkflowFile, requireGood, type GoodWorkflow } from '../../app/workflow.ts';
import { printJson, printLine, printTable, printTitle } from '../output.ts';
import { loadGood, onInterrupt, surveyDeps, tellServiceOf } from '../reading.ts';
import { readServed } from '../served-file.ts';

export interface PlanSettings {
  readonly newPath: string;
  /** The file in force; its database tells what runs. */
  readonly workflowPath: string;
  readonly asJson: boolean;
}

/** Holds a workflow file against the live board and the file in force. */
export async function showPlan({ newPath, workflowPath, asJson }: PlanSettings): Promise<number> {
  const alone = await loadGood(newPath, asJson);
  if (alone === null) return 1;
  const current = await readServed({ workflowPath, asJson });
  const next = current.dbPath === null ? alone : await inPlaceOf(workflowPath, newPath, alone);
  const deps = surveyDeps(next, asJson);
  deps.secrets.add(current.secrets);
  const plan = deps.secrets.maskDeep(await planOf(next, current, deps, onInterrupt()));
  if (asJson) {
    printJson(plan);
    return 0;
  }
  await tellServiceOf(databaseInForce(next, current), current);
  printTitle(`Would start (${plan.start.length})`);
  printTable(
    ['ISSUE', 'STATE', 'TITLE'],
    plan.start.map(({ identifier, state, title }) => [identifier, state, title]),
  );
  printTitle(`\nWould stop (${plan.stop.length})`);
  printTable(
    ['ISSUE', 'STATE', 'WHY'],
    plan.stop.map(({ identifier, state, reason }) => [identifier, state, reason]),
  );
  printTitle(`\nChanged settings (${plan.changes.length})`);
  printTable(
    ['KEY', 'FROM', 'TO'],
    plan.changes.map((change) => [change.key, ...shownChange(change)]),
  );
  for (const { kept_by } of plan.changes) if (kept_by) printLine(promptLine(kept_by));
  return 0;
}

/** Of texts with several lines the first that differs: their beginnings may be the same for pages. */
function shownChange({ from, to }: Change): readonly [string, string] {
  if (typeof from !== 'string' || typeof to !== 'string') return [JSON.stringify(from), JSON.stringify(to)];
  const [before, after] = [from.split('\n'), to.split('\n')];
  if (before.length === 1 && after.length === 1) return [JSON.stringify(from), JSON.stringify(to)];
  const differs = before.findIndex((line, index) => line !== after[index]);
  const at = differs === -1 ? before.length : differs;
  const shown = (line: string | undefined): string => (line === undefined ? '(nothing more)' : JSON.stringify(line));
  return [`line ${at + 1}: ${shown(before[at])}`, shown(after[at])];
}

/** Which runs get a changed prompt. */
function promptLine(keptBy: readonly string[]): string {
  const kept = keptBy.length === 0 ? '' : `; what runs goes on with the old one: ${keptBy.join(', ')}`;
  return `The new prompt is for sessions that start after the edit${kept}`;
}

/** The new file as it will be once it stands where the one in force is: its relative paths begin there. */
async function inPlaceOf(workflowPath: string, newPath: string, alone: GoodWorkflow): Promise<GoodWorkflow> {
  const loaded = await readWorkflowFile(newPath, process.env, workflowPath);
  return loaded.settings === null ? alone : requireGood(loaded);
}
