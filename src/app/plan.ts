import { isDeepStrictEqual } from 'node:util';
import type { LoadedWorkflow } from '../config/workflow.ts';
import { reasonToStop } from '../domain/events/on-issue-states.ts';
import type { StopReason } from '../domain/model/run.ts';
import { surveyBoard, surveyRuns, type SurveyDeps, type SurveyedRuns } from './survey.ts';
import { requireGood, type GoodWorkflow } from './workflow.ts';

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
  const start = survey.candidates
    .filter(({ verdict }) => verdict === null)
    .map(({ issue: { identifier, state, title } }) => ({ identifier, state, title }));
  if (current.settings === null) return { start, stop: [], changes: [] };
  const runs = await surveyRuns(requireGood(current), deps, signal);
  const stop = stopsOf(runs);
  const changes = [...changesOf(current.settings, next.settings), ...promptChange(current.body, next.body, goingOn(runs, stop))];
  return { start, stop, changes };
}

/**
 * Sessions that the next poll would end. Each is held to the settings that it started with, so that no edit ends one: its
 * issue has moved on the board. One whose state cannot be read goes on.
 */
function stopsOf({ state, running, states }: SurveyedRuns): EditPlan['stop'] {
  if (states === null) return [];
  return running.flatMap(({ issue }) => {
    const at = states.get(issue.id) ?? '';
    const reason = whyStopped(at, at === '' ? 'vanished' : reasonToStop(state, { issue, pickedFrom: issue.state }, at));
    return reason === null ? [] : [{ identifier: issue.identifier, state: at, reason }];
  });
}

function whyStopped(at: string, reason: StopReason | null): string | null {
  if (reason === null) return null;
  if (reason === 'vanished') return 'the tracker tells no state of it any more';
  return reason === 'terminal' ? `state "${at}" is a terminal state` : `state "${at}" is not an active state`;
}

/** Issues whose session would not be stopped. */
function goingOn({ running }: SurveyedRuns, stop: EditPlan['stop']): readonly string[] {
  const stopped = new Set(stop.map(({ identifier }) => identifier));
  return running.map(({ issue }) => issue.identifier).filter((identifier) => !stopped.has(identifier));
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
