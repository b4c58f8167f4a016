import { isDeepStrictEqual } from 'node:util';
import type { LoadedWorkflow } from '../../config/workflow.ts';
import { reasonToStop } from '../../domain/events/on-issue-states.ts';
import { reasonToLetGo } from '../../domain/events/on-retry-due.ts';
import type { RunningClaim } from '../../domain/model/claim.ts';
import { stateIn } from '../../domain/model/issue.ts';
import type { StopReason } from '../../domain/model/run.ts';
import type { State } from '../../domain/model/state.ts';
import type { DatabaseSettings } from './read-records.ts';
import { surveyBoard, surveyRuns, type SurveyDeps, type SurveyedRuns } from './survey.ts';
import { requireGood, type GoodWorkflow } from '../workflow.ts';

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
  const settings = { ...next.settings, ...databaseInForce(next, current) };
  const survey = await surveyBoard({ ...next, settings }, deps, signal);
  const start = survey.candidates
    .filter(({ verdict }) => verdict === null)
    .map(({ issue: { identifier, state, title } }) => ({ identifier, state, title }));
  if (current.settings === null) return { start, stop: [], changes: [] };
  const runs = await surveyRuns(requireGood(current), deps, signal);
  const ended = endedOf(runs);
  const goOn = runs.running.filter(({ issue }) => !ended.some(({ identifier }) => identifier === issue.identifier));
  const keptBy = goOn.map(({ issue }) => issue.identifier);
  const changes = [...changesOf(current.settings, next.settings), ...promptChange(current.body, next.body, keptBy)];
  const stop = [...ended, ...lastOnes(survey.state, goOn, runs.states), ...letGo(survey.state, runs)];
  return { start, stop, changes };
}

/** What runs is in the database of the file in force, wherever the new file would keep its own. One that cannot be read tells none. */
export function databaseInForce(next: GoodWorkflow, { dbPath, storeUrl }: LoadedWorkflow): DatabaseSettings {
  if (dbPath === null) return { dbPath: next.settings.dbPath, storeUrl: next.settings.storeUrl };
  return { dbPath, storeUrl };
}

/** Sessions that the next poll would end, by the settings that they started with: their issue has moved on the board. */
function endedOf({ state, running, states }: SurveyedRuns): EditPlan['stop'] {
  // One whose state cannot be read goes on.
  if (states === null) return [];
  return running.flatMap(({ issue }) => {
    const at = states.get(issue.id) ?? '';
    const reason = whyStopped(at, at === '' ? 'vanished' : reasonToStop(state, { issue, pickedFrom: issue.state }, at));
    return reason === null ? [] : [{ identifier: issue.identifier, state: at, reason }];
  });
}

function whyStopped(at: string, reason: StopReason | null): string | null {
  if (reason === null) return null;
  if (reason === 'vanished') return VANISHED;
  return reason === 'terminal' ? `state "${at}" is a terminal state` : `state "${at}" is not an active state`;
}

const VANISHED = 'the tracker tells no state of it any more';

/** A session is finished with the settings that it started with; where the new file does not take its issue, it is the last. */
function lastOnes(next: State, running: readonly RunningClaim[], states: SurveyedRuns['states']): EditPlan['stop'] {
  const { activeStates, terminalStates } = next.settings.tracker;
  // Of another tracker the new file says nothing.
  const ofThisTracker = running.filter(({ issue }) => next.claims.has(issue.id));
  return ofThisTracker.flatMap(({ issue }) => {
    const at = states?.get(issue.id) ?? issue.state;
    if (stateIn(activeStates, at) && !stateIn(terminalStates, at)) return [];
    const why = whyNotTaken(at, stateIn(terminalStates, at) ? 'terminal' : 'inactive');
    return [{ identifier: issue.identifier, state: at, reason: `${why}: once its session is over` }];
  });
}

function whyNotTaken(at: string, reason: 'terminal' | 'inactive'): string {
  return reason === 'terminal' ? `state "${at}" would be terminal` : `state "${at}" would not be active`;
}

/** What waits to run again is looked at with the new settings when its time comes; where its state cannot be read, as it was last seen. */
function letGo(next: State, { state, waiting, states }: SurveyedRuns): EditPlan['stop'] {
  const ofThisTracker = waiting.filter(({ issue }) => next.claims.has(issue.id));
  return ofThisTracker.flatMap((claim) => {
    const { id, identifier, state: seen } = claim.issue;
    const at = states === null ? seen : (states.get(id) ?? '');
    if (at === '') return [{ identifier, state: at, reason: VANISHED }];
    const reason = reasonToLetGo(next, claim, at);
    if (reason === null) return [];
    const already = whyStopped(at, reasonToLetGo(state, claim, at));
    return [{ identifier, state: at, reason: already ?? whyNotTaken(at, reason) }];
  });
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
