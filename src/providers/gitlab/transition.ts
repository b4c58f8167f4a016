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

/** Whether an issue shows that a label is not on it although the update was accepted. */
export function lacksLabel({ add_labels: added }: IssueUpdate, { labels }: Pick<WireUpdatedIssue, 'labels'>): boolean {
  return added !== undefined && Array.isArray(labels) && !stateIn(labels, added);
}

function stateEvent(role: Target['role'], closed: boolean): IssueUpdate['state_event'] {
  if (role === 'terminal' && !closed) return 'close';
  if (role === 'active' && closed) return 'reopen';
  return undefined;
}
