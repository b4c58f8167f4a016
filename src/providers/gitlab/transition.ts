import { sameState, stateIn } from '../../domain/model/issue.ts';
import { isClosed } from './map.ts';
import type { WireIssueState, WireUpdatedIssue } from './schema.ts';
import type { LabelStates } from './settings.ts';

/** A configured state as the goal of a move. */
export interface Target {
  /** As configured. */
  readonly state: string;
  readonly role: 'active' | 'terminal' | 'handoff';
}

/** The body of the one update request of a move. Lists are comma-separated. */
export interface IssueUpdate {
  readonly state_event?: 'close' | 'reopen';
  readonly add_labels?: string;
  readonly remove_labels?: string;
}

/** Undefined when it is no configured state. */
export function targetOf(state: string, { active, terminal, handoff }: LabelStates): Target | undefined {
  const lists = [
    ['active', active],
    ['terminal', terminal],
    ['handoff', handoff === null ? [] : [handoff]],
  ] as const;
  for (const [role, states] of lists) {
    const found = states.find((candidate) => sameState(candidate, state));
    if (found !== undefined) return { state: found, role };
  }
  return undefined;
}

/**
 * What has to change for the issue to be in the target state and in no other, or null when nothing has to. `label` is the
 * target's label as the remote stores it. It is never among the removed ones: of a label both added and removed the
 * remote keeps nothing. Scoped labels do not replace each other here, so every other state label is named.
 */
export function planTransition(
  issue: WireIssueState,
  { role, label }: { role: Target['role']; label: string },
  { active, terminal, handoff }: LabelStates,
): IssueUpdate | null {
  const labels = issue.labels ?? [];
  const configured = [...active, ...terminal, ...(handoff === null ? [] : [handoff]), label];
  const outgoing = labels.filter((name) => name !== label && stateIn(configured, name));
  const event = stateEvent(role, isClosed(issue));
  const update: IssueUpdate = {
    ...(event && { state_event: event }),
    ...(labels.includes(label) ? {} : { add_labels: label }),
    ...(outgoing.length > 0 && { remove_labels: outgoing.join(',') }),
  };
  return Object.keys(update).length > 0 ? update : null;
}

/** What an issue shows to be left undone of an update that was accepted, in words; null when it is all done. */
export function undoneOf(update: IssueUpdate, { state, labels }: WireUpdatedIssue, id: string): string | null {
  const { state_event: event, add_labels: added, remove_labels: removed = '' } = update;
  if (labels && added !== undefined && !stateIn(labels, added))
    return `the label ${JSON.stringify(added)} was accepted but issue ${id} does not carry it`;
  // Exactly: another spelling of what was removed may be what was added.
  const left = labels?.find((name) => removed.split(',').includes(name));
  if (left !== undefined) return `the label ${JSON.stringify(left)} was removed but issue ${id} still carries it`;
  if (event === 'close' && state === 'opened') return `issue ${id} was closed but is still open`;
  if (event === 'reopen' && state === 'closed') return `issue ${id} was reopened but is still closed`;
  return null;
}

function stateEvent(role: Target['role'], closed: boolean): IssueUpdate['state_event'] {
  if (role === 'terminal' && !closed) return 'close';
  if (role === 'active' && closed) return 'reopen';
  return undefined;
}
