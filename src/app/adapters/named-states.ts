import type { SourcePosition } from '../../domain/model/problem.ts';
import type { LoadedWorkflow } from '../../config/workflow.ts';
import { sameState } from '../../domain/model/issue.ts';
import type { Settings } from '../../domain/model/settings.ts';
import { namedByReactions } from '../../domain/reactions/registry.ts';
import { nearestWord } from '../../lib/nearest-word.ts';
import type { Board } from '../../ports/provider.ts';
import type { GoodWorkflow } from '../workflow.ts';

/** A name that the workflow file gives, by its key. */
interface Named {
  readonly key: string;
  readonly name: string;
  /** Its place in the list of the key, where it is one of several. */
  readonly index?: number;
}

/** A state that the workflow file names. */
export interface NamedState extends Named {
  /** Runs move issues there: where it cannot be, finished work is not handed over. */
  readonly isWritten: boolean;
}

/** Every state that the file names, by its key. */
export function statesNamed({ tracker, reactions }: Pick<Settings, 'tracker' | 'reactions'>): readonly NamedState[] {
  const { activeStates, terminalStates, handoffState, inProgressState, noChangeState } = tracker;
  const written = [
    ['tracker.handoff_state', handoffState],
    ['tracker.in_progress_state', inProgressState],
    ['tracker.no_change_state', noChangeState === handoffState ? null : noChangeState],
  ] as const;
  return [
    ...activeStates.map((name, index) => ({ key: 'tracker.active_states', name, index, isWritten: false })),
    ...terminalStates.map((name, index) => ({ key: 'tracker.terminal_states', name, index, isWritten: false })),
    ...written.flatMap(([key, name]) => (name === null ? [] : [{ key, name, isWritten: true }])),
    ...namedByReactions(reactions, 'state').map((named) => ({ ...named, isWritten: true })),
  ];
}

/** Every other label that the file names and the tracker would have, where its states are labels too. */
export function labelsNamed({ tracker, reactions }: Pick<Settings, 'tracker' | 'reactions'>): readonly NamedLabel[] {
  const { connection, on } = reactions;
  const isSameProject = connection?.kind === tracker.kind && connection.project === tracker.project;
  const commands = isSameProject ? namedByReactions(reactions, 'label') : [];
  const asking = Object.entries(on).find(([, { escalation }]) => escalation === 'label');
  return [
    ...(tracker.approvalLabel === null
      ? []
      : [{ key: 'tracker.approval_label', name: tracker.approvalLabel, isSetBy: 'people' as const }]),
    ...(asking
      ? [{ key: `reactions.${asking[0]}.escalation_label`, name: asking[1].escalationLabel, isSetBy: 'us' as const }]
      : []),
    ...commands.map((named) => ({ ...named, isSetBy: 'people' as const })),
  ];
}

export interface NamedLabel extends Named {
  readonly isSetBy: 'people' | 'us';
}

/** Where the workflow file names it. */
export function placeOfName({ placeOf }: Pick<LoadedWorkflow, 'placeOf'>, { key, index }: Named): SourcePosition | null {
  return placeOf([...key.split('.'), ...(index === undefined ? [] : [index])]);
}

/** Where the workflow file names the first of these states. */
export function placeOfStates(
  workflow: Pick<GoodWorkflow, 'settings' | 'placeOf'>,
  names: readonly string[],
): SourcePosition | null {
  const first = statesNamed(workflow.settings).find(({ name }) => names.includes(name));
  return first === undefined ? null : placeOfName(workflow, first);
}

/** What there is to say of a state that the tracker does not have; null when it has it. */
export function missingState(name: string, board: Board): { readonly message: string; readonly hint: string } | null {
  const names = board.states.map((state) => state.name);
  if (names.some((known) => sameState(known, name))) return null;
  const near = nearestWord(name, names);
  const hint = `${near === null ? '' : `did you mean "${near}"? `}it has ${listed(names)}`;
  return { message: `the tracker has no ${wordFor(board)} "${name}"`, hint };
}

/** A repository may have hundreds of labels. */
const MOST_LISTED = 20;

function listed(names: readonly string[]): string {
  const more = names.length - MOST_LISTED;
  return `${names.slice(0, MOST_LISTED).join(', ') || 'none'}${more > 0 ? ` and ${more} more` : ''}`;
}

export function wordFor({ what }: Board): string {
  return what === 'labels' ? 'label' : 'state';
}
