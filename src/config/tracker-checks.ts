import { sameState, stateIn } from '../domain/model/issue.ts';
import type { Problem } from '../domain/model/problem.ts';
import type { ProviderFacts } from '../ports/provider.ts';
import { blamingUnset, type ExpandedConnection, literalNote, unsetNote } from './expand.ts';
import type { CheckedFrontMatter } from './check-front-matter.ts';
import { didYouMean, nearestWord } from '../lib/nearest-word.ts';
import { blockNames, fullName, writtenName } from './blocks.ts';
import { overlapOf, type ReadTracker } from './tracker.ts';

type ConnectionKey = keyof ExpandedConnection;

/** What is said when the kind is missing or unknown: nothing else of the tracker can be judged then. */
export function checkTrackerKind(read: CheckedFrontMatter, providers: readonly ProviderFacts[]): readonly Problem[] {
  if (read.provider || read.isFaulty('tracker.kind')) return [];
  const { kind } = read.sections.tracker;
  const missing = kind === undefined || kind === '';
  const what = missing ? 'tracker.kind is required' : `unknown tracker kind ${JSON.stringify(kind)}`;
  const near = missing ? null : nearestWord(kind, providers.flatMap(blockNames));
  const hint = near === null ? '' : `; did you mean ${near}?`;
  return [problem('error', 'tracker.kind', `${what}; known kinds: ${kindList(providers)}${hint}`)];
}

/** `file, wfboard (or jira), …` */
export function kindList(providers: readonly ProviderFacts[]): string {
  const names = providers.map(({ kind, aliases }) => (aliases.length > 0 ? `${kind} (or ${aliases.join(', ')})` : kind));
  return names.join(', ');
}

/** The checks that hold for every kind, in their documented order. */
export function checkTracker(tracker: ReadTracker, isFaulty: CheckedFrontMatter['isFaulty']): readonly Problem[] {
  const judged = (key: string, found: readonly Problem[]) => (isFaulty(`tracker.${key}`) ? [] : found);
  return [
    ...judged('endpoint', checkRequired(tracker, 'endpoint', tracker.provider.requires.endpoint)),
    ...judged('api_key', checkRequired(tracker, 'api_key', tracker.provider.requires.apiKey)),
    ...judged('project', checkRequired(tracker, 'project', tracker.provider.requires.project)),
    ...judged('endpoint', checkReplaced(tracker, 'endpoint')),
    ...judged('project', checkReplaced(tracker, 'project')),
    ...judged('active_states', checkActiveStates(tracker)),
    ...checkOverlap(tracker),
    ...checkHandoff(tracker),
    ...(isFaulty('tracker.active_states') ? [] : checkInProgress(tracker)),
    ...(isFaulty('tracker.handoff_state') ? [] : checkNoChange(tracker)),
    ...judged('authors', checkAuthors(tracker)),
    ...judged('approval_label', checkApprovalLabel(tracker)),
  ];
}

function checkRequired(tracker: ReadTracker, key: ConnectionKey, required: boolean): readonly Problem[] {
  const { provider, connection, section } = tracker;
  const expanded = connection[key];
  // A blank project or endpoint is left to the kind, which says what it should look like.
  const missing = !expanded || (key === 'api_key' ? expanded.value.trim() : expanded.value) === '';
  if (missing && required) {
    const message = `tracker.${key} is required for tracker kind ${fullName(provider, section.kind)}${kindNote(key)}${unsetNote(expanded)}`;
    return [blamingUnset(problem('error', `tracker.${key}`, message), expanded)];
  }
  if (!expanded || expanded.unset.length === 0) return [];
  const instead =
    missing && key === 'endpoint' && provider.defaults.endpoint ? `; ${provider.defaults.endpoint} is used instead` : '';
  const message = `tracker.${key} is incomplete${unsetNote(expanded)}${instead}`;
  return [blamingUnset(problem('warning', `tracker.${key}.unset_variable`, message, key), expanded)];
}

/** A name that is taken for the value itself is found out only when the tracker knows no such project or host. */
function checkReplaced({ provider, section }: ReadTracker, key: 'endpoint' | 'project'): readonly Problem[] {
  // It reads neither.
  if (provider.place !== undefined) return [];
  const note = literalNote(section[key], provider.expansion[key]);
  return note === null ? [] : [problem('warning', `tracker.${key}.not_expanded`, `tracker.${key}: ${note}`, key)];
}

/** What the error is called by those who read error kinds. */
function kindNote(key: ConnectionKey): string {
  return key === 'project' ? ' (missing_tracker_project)' : '';
}

function checkActiveStates({ states, section, provider }: ReadTracker): readonly Problem[] {
  if (states.active.length > 0) return [];
  // Leaving it out is a way to pause such a kind; the daemon says so when it starts.
  if (!section.active_states && !provider.defaults.activeStatesGateDispatch) return [];
  const why = section.active_states ? 'is empty' : 'is not set';
  return [
    problem(
      'warning',
      'tracker.active_states.empty',
      `tracker.active_states ${why}: nothing will be dispatched`,
      'active_states',
    ),
  ];
}

function checkOverlap({ provider, states }: ReadTracker): readonly Problem[] {
  if (provider.refusesOverlap !== true) return [];
  return overlapOf(states).map((state) =>
    problem(
      'error',
      'tracker.states',
      `the state ${JSON.stringify(state)} is both an active and a terminal state`,
      'terminal_states',
    ),
  );
}

function checkHandoff({ section, states }: ReadTracker): readonly Problem[] {
  const handoff = section.handoff_state;
  if (handoff === undefined) return [];
  const clash = (list: string, why: string) =>
    problem(
      'error',
      'tracker.handoff_state',
      `the handoff state ${JSON.stringify(handoff)} is also one of the ${list} states: ${why}`,
    );
  return [
    ...(stateIn(states.derived, handoff) ? [clash('active', 'the issue would be dispatched again at once')] : []),
    ...(stateIn(states.terminal, handoff) ? [clash('terminal', 'a handoff does not finish an issue')] : []),
  ];
}

function checkInProgress({ section, states }: ReadTracker): readonly Problem[] {
  const state = section.in_progress_state;
  if (state === undefined) return [];
  const fault = (why: string) =>
    problem('error', 'tracker.in_progress_state', `the in-progress state ${JSON.stringify(state)} ${why}`);
  return [
    ...(stateIn(states.active, state) ? [] : [fault(`must be one of the active states${didYouMean(state, states.active)}`)]),
    ...(stateIn(states.terminal, state) ? [fault('must not be one of the terminal states')] : []),
    ...(section.handoff_state !== undefined && sameState(section.handoff_state, state)
      ? [fault('must not be the handoff state')]
      : []),
  ];
}

function checkNoChange({ section, states }: ReadTracker): readonly Problem[] {
  const { no_change_state: state, handoff_state: handoff } = section;
  if (state === undefined) return [];
  const fault = (message: string) => [problem('error', 'tracker.no_change_state', message)];
  if (handoff === undefined) return fault('tracker.no_change_state needs tracker.handoff_state');
  if (sameState(state, handoff) || stateIn(states.terminal, state) || !stateIn(states.derived, state)) return [];
  return fault(
    `the no-change state ${JSON.stringify(state)} is one of the active states: the issue would be dispatched again at once`,
  );
}

function checkAuthors({ section, provider }: ReadTracker): readonly Problem[] {
  if (section.authors !== 'collaborators' || provider.tellsCollaborators) return [];
  const message = `tracker kind ${writtenName(provider, section.kind)} does not tell who may write to the project: tracker.authors takes a list of user names there`;
  return [problem('error', 'tracker.authors', message)];
}

// A move to another state would take the approval away with the label.
function checkApprovalLabel({ section, provider, states }: ReadTracker): readonly Problem[] {
  const { approval_label: label, handoff_state: handoff } = section;
  if (label === undefined || !provider.roles.includes('labels')) return [];
  if (!stateIn([...states.derived, ...states.terminal, handoff ?? ''], label)) return [];
  const message = `the approval label ${JSON.stringify(label)} is also a state: an issue loses it with the state, and waits for approval again`;
  return [problem('warning', 'tracker.approval_label', message)];
}

function problem(severity: Problem['severity'], check: string, message: string, key = check.split('.')[1]!): Problem {
  return { severity, check, message, key: ['tracker', key] };
}
