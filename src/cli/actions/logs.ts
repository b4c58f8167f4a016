import { setTimeout as delay } from 'node:timers/promises';
import type { Run, RunEvent } from '../../domain/model/run.ts';
import type { Records } from '../../app/commands/read-records.ts';
import { duration, iso, utcMoment, printJson, printJsonLine, printLine, printTitle } from '../output.ts';
import { isServiceStopping, onInterrupt, tellService, withReading } from '../reading.ts';

export interface LogSettings {
  readonly workflowPath: string;
  readonly follow: boolean;
  readonly asJson: boolean;
}

const LOOK_EVERY_MS = 500;
const MAX_RUNS = 1_000;

interface RecordedRun {
  readonly run: Run;
  readonly events: readonly RunEvent[];
}

/** Prints what was recorded of the runs of one issue, oldest first; with `follow` also what comes. */
export async function showLogs(identifier: string, settings: LogSettings): Promise<number> {
  const interrupted = onInterrupt();
  const seen: Seen = new Map();
  for (let first = true; ; first = false) {
    const recorded = await readRecorded(identifier, settings, seen, first);
    if (recorded === null) return 1;
    if (first && recorded.length === 0) {
      process.stderr.write(`foray: no run of ${identifier} is recorded\n`);
      return 1;
    }
    if (settings.asJson && !settings.follow) {
      printJson({ identifier, runs: recorded.map(runFacts) });
      return 0;
    }
    for (const one of recorded) tell(one, seen, settings.asJson);
    if (!settings.follow || interrupted.aborted) return 0;
    await delay(LOOK_EVERY_MS, undefined, { signal: interrupted }).catch(() => {});
    if (interrupted.aborted) return 0;
  }
}

/** How many events of a run were told, by its id; `DONE` once all were. */
type Seen = Map<string, number>;
const DONE = -1;

/** Whatever is not wholly told yet. */
async function readRecorded(
  identifier: string,
  { workflowPath, asJson }: LogSettings,
  seen: Seen,
  first: boolean,
): Promise<readonly RecordedRun[] | null> {
  return withReading({ workflowPath, asJson, isFirst: first }, async ({ records }) => {
    if (first && !asJson) tellService(records, await isServiceStopping(records));
    if (records === null) return [];
    const runs = await runsOf(records, identifier);
    const untold = runs.toReversed().filter(({ id }) => seen.get(id) !== DONE);
    const recorded = await Promise.all(untold.map(({ id }) => records.findRun(id)));
    return recorded.filter((one) => one !== null);
  });
}

/** By the name as it was given, else ignoring case among the latest runs. */
async function runsOf(records: Records, identifier: string): Promise<readonly Run[]> {
  const exact = await records.listRuns({ identifier, mostly: records.tracker, limit: MAX_RUNS });
  if (exact.length > 0) return exact;
  const wanted = identifier.toLowerCase();
  const matches = ({ issue }: Run): boolean =>
    issue.identifier.toLowerCase() === wanted || issue.displayIdentifier?.toLowerCase() === wanted;
  return (await records.listRuns({ limit: MAX_RUNS })).filter(matches);
}

/** What of a run was not told yet. */
function tell({ run, events }: RecordedRun, seen: Seen, asJson: boolean): void {
  const told = seen.get(run.id);
  if (told === undefined && !asJson)
    printTitle(`run ${run.id}: attempt ${run.attempt}, ${run.agentKind}, started ${utcMoment(run.startedAt)}`);
  const isEnded = run.endedAt !== null;
  for (const event of events.slice(told ?? 0)) {
    if (asJson) printJsonLine(eventFacts(event));
    else printLine(`${utcMoment(event.at)}  ${event.type.padEnd(16)} ${event.text}`);
  }
  if (isEnded) tellEnd(run, asJson);
  seen.set(run.id, isEnded ? DONE : events.length);
}

function tellEnd(run: Run, asJson: boolean): void {
  const text = `${run.turns} turns in ${duration((run.endedAt ?? 0) - run.startedAt)}${run.error === null ? '' : `: ${run.error}`}`;
  if (asJson) printJsonLine({ ...endFacts(run), text });
  else printLine(`${utcMoment(run.endedAt)}  ${run.status.padEnd(16)} ${text}`);
}

function runFacts({ run, events }: RecordedRun) {
  return {
    run_id: run.id,
    attempt: run.attempt,
    trigger: run.trigger,
    agent: run.agentKind,
    status: run.status,
    started_at: iso(run.startedAt),
    ended_at: iso(run.endedAt),
    turns: run.turns,
    error: run.error,
    events: events.map(eventFacts),
  };
}

/** In the form of an event, with what only the end of a run tells. */
function endFacts({ id, endedAt, status, turns, error }: Run) {
  return { run_id: id, at: iso(endedAt), type: 'run_ended', status, turns, error };
}

function eventFacts({ runId, at, type, text }: RunEvent) {
  return { run_id: runId, at: iso(at), type, text };
}
