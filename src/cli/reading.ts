import { databaseOf, withRecords, type DatabaseSettings, type Records } from '../app/commands/read-records.ts';
import { isStop, troublesSince } from '../app/pages/chronicle.ts';
import { createKnownSecrets } from '../app/secrets.ts';
import type { SurveyDeps } from '../app/commands/survey.ts';
import { readWorkflowFile, type GoodWorkflow } from '../app/workflow.ts';
import type { LoadedWorkflow } from '../config/workflow.ts';
import { goodOrTold, tellFaults, tellUnreadable } from './problems.ts';
import { utcMoment } from './output.ts';
import { readServed, type ReadingSettings } from './served-file.ts';
import { stderrLog } from './stderr-log.ts';

/** Reads the records of a workflow file; only the place of its database matters. Faults are printed and give null. */
export async function withReading<T>(settings: ReadingSettings, read: (reading: ReadWorkflow) => Promise<T>): Promise<T | null> {
  const { asJson, isFirst = true } = settings;
  const loaded = await readServed(settings);
  const database = await databaseOf(loaded);
  if (database === null) {
    tellFaults(loaded, asJson);
    return null;
  }
  if (loaded.dbPath === null && isFirst) tellUnreadable(loaded, asJson);
  return withRecords(database, loaded, (records) => read({ loaded, records }));
}

export interface ReadWorkflow {
  readonly loaded: LoadedWorkflow;
  /** Null before the first start. */
  readonly records: Records | null;
}

/** Loads a workflow that a command has to understand wholly. Errors are printed and give null; warnings are left to `validate`. */
export async function loadGood(path: string, asJson: boolean): Promise<GoodWorkflow | null> {
  return goodOrTold(await readWorkflowFile(path, process.env), asJson);
}

/** What a look at the live board needs. Only warnings of the adapters are told, on standard error. */
export function surveyDeps(workflow: GoodWorkflow, asJson: boolean): SurveyDeps {
  const secrets = createKnownSecrets();
  secrets.add(workflow.secrets);
  const logger = stderrLog({ level: 'warn', format: asJson ? 'json' : 'text', mask: secrets.mask });
  return { env: { ...process.env }, version: FORAY_VERSION, clock: { now: Date.now }, logger, secrets };
}

/** Nobody should look at silence: a wait is told of. */
export async function toldWhileWaiting<T>(work: Promise<T>, text: string): Promise<T> {
  const timer = setTimeout(() => process.stderr.write(`foray: ${text}\n`), PATIENCE_MS);
  return work.finally(() => clearTimeout(timer));
}

const PATIENCE_MS = 900;

/** Ends what is under way at the first interrupt. */
export function onInterrupt(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => interrupted.abort(new Error(`interrupted by ${signal}`)));
  return interrupted.signal;
}

/** Says on standard error whose words these are: a running service's, or those of the database alone. */
export function tellService(records: Records | null, isStopping: boolean): void {
  process.stderr.write(`${serviceLine(records, isStopping)}\n`);
}

/** Whether the service at work on these records is on its way out, by its own word. */
export async function isServiceStopping(records: Records | null): Promise<boolean> {
  const daemon = records?.daemon ?? null;
  return records !== null && daemon !== null && (await troublesSince(daemon.startedAt, records)).some(isStop);
}

/** The same for a command that looks at the board itself. */
export function tellServiceOf(database: DatabaseSettings, workflow: LoadedWorkflow): Promise<void> {
  return withRecords(database, workflow, async (records) => tellService(records, await isServiceStopping(records)));
}

/** Whether a service is at work on these records, for people. */
export function serviceLine(records: Records | null, isStopping: boolean): string {
  if (records === null) return 'service: never started with this workflow file';
  const { daemon, otherFile } = records;
  if (daemon === null) return 'service: not running; this is what the database holds';
  if (otherFile !== null) return `service: not running; ${othersLine(otherFile)}`;
  return `service: ${isStopping ? 'stopping' : 'running'} (pid ${daemon.pid} on ${daemon.host}, since ${utcMoment(daemon.startedAt)})`;
}

/** Whose the database is where it is not that of the file asked about. */
export function othersLine(otherFile: string): string {
  return `the service of ${otherFile} uses this database, nothing watches this file`;
}

/** The same for programs. */
export function serviceFacts(records: Records | null) {
  const daemon = records?.daemon ?? null;
  if (daemon === null) return { running: false };
  const facts = {
    pid: daemon.pid,
    host: daemon.host,
    started_at: new Date(daemon.startedAt).toISOString(),
    workflow_path: daemon.workflowPath,
  };
  return records?.otherFile == null ? { running: true, ...facts } : { running: false, database_used_by: facts };
}
