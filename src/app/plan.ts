import { isDeepStrictEqual } from 'node:util';
import { stateIn } from '../domain/model/issue.ts';
import type { LoadedWorkflow } from '../config/workflow.ts';
import type { State } from '../domain/model/state.ts';
import { surveyBoard, type SurveyDeps } from './survey.ts';
import type { GoodWorkflow } from './workflow.ts';

/** What an edit of the workflow file would change. */
export interface EditPlan {
  readonly start: readonly { readonly identifier: string; readonly state: string; readonly title: string }[];
  readonly stop: readonly { readonly identifier: string; readonly state: string; readonly reason: string }[];
  readonly changes: readonly Change[];
}

/** A setting that differs, or the prompt. */
export interface Change {
  readonly key: string;
  readonly from: unknown;
  readonly to: unknown;
  /** Of the prompt: the issues whose session goes on with the old one. Whatever starts after the edit gets the new one. */
  readonly kept_by?: readonly string[];
}

/** The new file against the live board and what the service of the current one runs. Reads only. */
export async function planOf(
  next: GoodWorkflow,
  current: LoadedWorkflow,
  deps: SurveyDeps,
  signal: AbortSignal,
): Promise<EditPlan> {
  // What runs is in the database of the file in force, wherever the new file would keep its own.
  const dbPath = current.dbPath ?? next.settings.dbPath;
  const storeUrl = current.dbPath === null ? next.settings.storeUrl : current.storeUrl;
  const survey = await surveyBoard({ ...next, settings: { ...next.settings, dbPath, storeUrl } }, deps, signal);
  const states = new Map(survey.candidates.map(({ issue }) => [issue.id, issue.state]));
  const stop = stopsOf(survey.state, states);
  return {
    start: survey.candidates
      .filter(({ verdict }) => verdict === null)
      .map(({ issue: { identifier, state, title } }) => ({ identifier, state, title })),
    stop,
    changes:
      current.settings === null
        ? []
        : [...changesOf(current.settings, next.settings), ...promptChange(current.body, next.body, goingOn(survey.state, stop))],
  };
}

/** Sessions whose issue would no longer be in an active state. */
function stopsOf(state: State, seen: ReadonlyMap<string, string>): EditPlan['stop'] {
  const { activeStates, terminalStates } = state.settings.tracker;
  return [...state.claims.values()].flatMap(({ phase, issue }) => {
    const at = seen.get(issue.id) ?? issue.state;
    if (phase !== 'running' || (stateIn(activeStates, at) && !stateIn(terminalStates, at))) return [];
    const reason = stateIn(terminalStates, at) ? `state "${at}" would be terminal` : `state "${at}" would not be active`;
    return [{ identifier: issue.identifier, state: at, reason }];
  });
}

/** Issues whose session would not be stopped. */
function goingOn({ claims }: State, stop: EditPlan['stop']): readonly string[] {
  const stopped = new Set(stop.map(({ identifier }) => identifier));
  const running = [...claims.values()].filter(({ phase }) => phase === 'running').map(({ issue }) => issue.identifier);
  return running.filter((identifier) => !stopped.has(identifier));
}

/** A session keeps the prompt that it started with. */
function promptChange(from: string, to: string, keptBy: readonly string[]): readonly Change[] {
  return from === to ? [] : [{ key: 'prompt', from, to, kept_by: keptBy }];
}

/** Every setting that differs, by its dotted name; credentials are never shown. */
function changesOf(before: unknown, after: unknown, key = ''): readonly Change[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isRecord(before) && isRecord(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => changesOf(before[name], after[name], key === '' ? snake(name) : `${key}.${snake(name)}`));
  }
  const hidden = /(?:api_key|token|secret)$/.test(key);
  return [{ key, from: hidden ? HIDDEN : (before ?? null), to: hidden ? HIDDEN : (after ?? null) }];
}

const HIDDEN = '(hidden)';

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Settings are named as the workflow file names them. */
function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
