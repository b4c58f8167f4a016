import { isStop, troublesSince, type Trouble } from '../../app/pages/chronicle.ts';
import { explainBoard, explainRecords } from '../../app/commands/explain.ts';
import { isWell, keptBack, unserved, unwatched, type Explanation } from '../../app/commands/explanation.ts';
import { databaseOf, withRecords, type Records } from '../../app/commands/read-records.ts';
import { requireGood, type GoodWorkflow } from '../../app/workflow.ts';
import { waitIn } from '../../runners/queue/leader/known-workers.ts';
import type { LoadedWorkflow } from '../../config/workflow.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import { utcMoment, printJson, printLine, printTable } from '../output.ts';
import { faultLine, tellFaults, tellNote } from '../problems.ts';
import { isServiceStopping, onInterrupt, othersLine, surveyDeps, tellService } from '../reading.ts';
import { readServed } from '../served-file.ts';

export interface ExplainSettings {
  /** Null asks for every issue the service knows of. */
  readonly identifier: string | null;
  readonly workflowPath: string;
  readonly asJson: boolean;
}

/** Tells why issues are worked on or not. For one issue the exit code says whether all is well with it. */
export async function showExplanations(settings: ExplainSettings): Promise<number> {
  const loaded = await readServed(settings);
  if (loaded.settings === null) {
    const known = await knownToService(loaded, settings, faultLine(loaded));
    if (known === null) tellFaults(loaded, settings.asJson);
    return known === null ? 1 : showKnown(known, settings);
  }
  const workflow = requireGood(loaded);
  const deps = surveyDeps(workflow, settings.asJson);
  const interrupted = onInterrupt();
  try {
    const service = await serviceOf(workflow);
    const { identifier, asJson } = settings;
    const found = await explainBoard(workflow, deps, { identifier, ...service }, interrupted);
    if (!asJson) tellService(service.records, service.troubles?.some(isStop) ?? false);
    return show(deps.secrets.maskDeep(found.map(servedBy(service))), settings, noneText(workflow.settings));
  } catch (error) {
    if (interrupted.aborted || !(error instanceof TrackerError)) throw error;
    const known = await knownToService(loaded, settings, error.message);
    if (known === null) throw error;
    return showKnown(deps.secrets.maskDeep(known), settings);
  }
}

interface Service {
  readonly records: Records | null;
  /** What keeps it back, by its own word; null where none is at work on the file. */
  readonly troubles: readonly Trouble[] | null;
}

/** The service of a file, by its records, which are closed again. */
async function serviceOf(workflow: GoodWorkflow): Promise<Service> {
  return withRecords(workflow.settings, workflow, async (records) => {
    const daemon = records?.otherFile === null ? records.daemon : null;
    return { records, troubles: records && daemon && (await troublesSince(daemon.startedAt, records)) };
  });
}

/** How an explanation reads with the service there is. */
function servedBy({ records, troubles }: Service): (found: Explanation) => Explanation {
  if (troubles !== null) return (found) => keptBack(found, troubles);
  const otherFile = records?.otherFile ?? null;
  return otherFile === null ? unserved : (found) => unwatched(found, othersLine(otherFile));
}

/** What the records of a running service tell although the tracker was not read; null where they know nothing of it. */
async function knownToService(
  loaded: LoadedWorkflow,
  { identifier, asJson }: ExplainSettings,
  whyUnread: string,
): Promise<readonly Explanation[] | null> {
  const database = await databaseOf(loaded);
  if (database === null) return null;
  return withRecords(database, loaded, async (records) => {
    if (!records?.daemon) return null;
    const durable = await records.load();
    const agent = loaded.settings?.agent ?? null;
    const waitOf = waitIn(await records.fleet(), { agent, pauses: durable, version: FORAY_VERSION });
    const around = { settings: loaded.settings, now: Date.now(), endingElsewhere: await records.endingElsewhere(), waitOf };
    const found = explainRecords(durable, around, identifier);
    if (identifier !== null && found.length === 0) return null;
    if (!asJson) tellService(records, await isServiceStopping(records));
    tellNote('the tracker was not read; this is what the database holds', whyUnread, asJson);
    return found;
  });
}

/** Where the tracker was not read, no issue that is known of does not mean that there is none. */
function showKnown(known: readonly Explanation[], settings: ExplainSettings): number {
  if (known.length > 0) return show(known, settings);
  if (settings.asJson) printJson(known);
  return 1;
}

/** Where nothing is known and nothing is found, what was looked for. */
function noneText({ tracker: { activeStates, queryFilter } }: GoodWorkflow['settings']): string {
  if (activeStates.length === 0) return 'no issues: tracker.active_states is empty';
  const matching = queryFilter.trim() === '' ? '' : ` that matches tracker.query_filter (${queryFilter})`;
  return `no issue is in an active state (${activeStates.join(', ')})${matching}`;
}

function show(found: readonly Explanation[], { identifier, asJson }: ExplainSettings, none = ''): number {
  if (asJson) printJson(found);
  else if (identifier === null) printTable(['ISSUE', 'STATE', 'DISPATCH', 'REASON', 'DETAIL'], found.map(rowOf), none);
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
