import path from 'node:path';
import type { Problem, SourcePosition } from '../domain/model/problem.ts';
import type { Settings } from '../domain/model/settings.ts';
import { readCredentialFiles } from './credential-files.ts';
import { nearestPlace, readFrontMatter, type Key } from './document.ts';
import { readWorkflowText } from './file.ts';
import { splitFrontMatter } from './front-matter.ts';
import { settingsFrom, type ReadSettings, type SettingsContext } from './read-settings.ts';
import { maskCollected } from './secrets.ts';

/** What a workflow file is judged by besides its own text. */
export interface LoadContext extends SettingsContext {
  /** Finds faults of the prompt template; `firstLine` is the body's first line in the file. */
  checkTemplate(body: string, firstLine: number): readonly Problem[];
}

export interface LoadedWorkflow {
  /** In the order of detection; each message ends with its position where it has one. */
  readonly problems: readonly Problem[];
  /** Null when there is an error. */
  readonly settings: Settings | null;
  /** Absolute, also when something else is wrong; null when the file could not be read at all. */
  readonly dbPath: string | null;
  /** The PostgreSQL database that takes its place; null where there is none. */
  readonly storeUrl: string | null;
  /** Also when something else is wrong. */
  readonly logFormat: Settings['logging']['format'];
  readonly body: string;
  readonly bodyLine: number;
  /** Absolute. */
  readonly path: string;
  /** Values that must be masked wherever text is shown. */
  readonly secrets: readonly string[];
  /** Environment variables that agents must not inherit. */
  readonly secretVariables: readonly string[];
  /** Of the content that was read; what a watcher compares with. */
  readonly fingerprint: string;
  /** Where a key stands in the file; where it is left to its default, the nearest one above it that is there. */
  readonly placeOf: (key: Key) => SourcePosition | null;
}

/**
 * Reads and checks a workflow file. Touches nothing but the file. Never rejects for a fault of it. What follows from where it
 * stands, such as relative paths, is taken from `place`.
 */
export async function loadWorkflow(workflowPath: string, context: LoadContext, place = workflowPath): Promise<LoadedWorkflow> {
  const file = await readWorkflowText(workflowPath);
  if (typeof file.content === 'string') {
    const { env, faults } = await readCredentialFiles(file.content, context.env, path.dirname(path.resolve(place)));
    const read = readWorkflow(file.content, place, { ...context, env });
    return { ...withFaults(read, faults), fingerprint: file.fingerprint };
  }
  return { ...nothingLoaded(path.resolve(place), [file.content]), fingerprint: file.fingerprint };
}

/** Only of variables that credentials refer to: any text of the file may look like a reference. */
function withFaults(read: LoadedWorkflow, faults: ReadonlyMap<string, Problem>): LoadedWorkflow {
  const problems = read.secretVariables.flatMap((name) => faults.get(name) ?? []);
  return problems.length === 0 ? read : { ...read, problems: [...problems, ...read.problems], settings: null };
}

/** The same for a text that is already at hand. */
export function readWorkflow(text: string, workflowPath: string, context: LoadContext): LoadedWorkflow {
  const absolute = path.resolve(workflowPath);
  const parts = splitFrontMatter(text);
  if ('check' in parts) return { ...nothingLoaded(absolute, [parts]), fingerprint: text };
  const matter = readFrontMatter(parts);
  const read = matter.data === null ? UNREADABLE : settingsFrom(matter.data, matter, { ...context, workflowPath: absolute });
  const problems = [...matter.problems, ...read.problems, ...context.checkTemplate(parts.body, parts.bodyLine)].map(
    (problem) => ({
      ...problem,
      message: maskCollected(problem.message, read.secrets),
    }),
  );
  const failed = problems.some(({ severity }) => severity === 'error');
  return {
    problems,
    settings: failed ? null : read.settings,
    dbPath: read.dbPath,
    storeUrl: read.storeUrl,
    logFormat: read.logFormat,
    body: parts.body,
    bodyLine: parts.bodyLine,
    path: absolute,
    secrets: read.secrets.values,
    secretVariables: read.secrets.variables,
    fingerprint: text,
    placeOf: (key) => nearestPlace(key, matter),
  };
}

function nothingLoaded(absolute: string, problems: readonly Problem[]): Omit<LoadedWorkflow, 'fingerprint'> {
  return {
    problems,
    settings: null,
    dbPath: null,
    storeUrl: null,
    logFormat: 'text',
    body: '',
    bodyLine: 1,
    path: absolute,
    secrets: [],
    secretVariables: [],
    placeOf: () => null,
  };
}

const UNREADABLE: ReadSettings = {
  settings: null,
  dbPath: null,
  storeUrl: null,
  logFormat: 'text',
  problems: [],
  secrets: { values: [], variables: [] },
};
