import { normalState, stateIn } from '../../domain/model/issue.ts';

/** How a kind reads an issue's state from its labels. */
export interface LabelStateRule {
  /** Configured states in scan order: the first list is looked at first, entries in configuration order. */
  readonly lists: readonly (readonly string[])[];
  /** Those of them that finish an issue. */
  readonly terminal: readonly string[];
  /** The state of an open issue without a state label; empty where such an issue has none. */
  readonly open: string;
  /** The same for a closed one. */
  readonly closed: string;
}

export interface DerivedState {
  readonly state: string;
  /** Every configured state among the labels in scan order; the state is the first. More than one is worth a warning. */
  readonly matches: readonly string[];
  /** The issue is closed, while the state says that it is not finished. */
  readonly isClosed: boolean;
}

/** Case does not matter; states come back as configured. The order of the configuration decides, never that of the labels. */
export function deriveState(labels: readonly string[], native: 'open' | 'closed', rule: LabelStateRule): DerivedState {
  const present = labels.map(normalState);
  const found: string[] = [];
  const matches: string[] = [];
  for (const list of rule.lists) {
    const keys = normalStates(list);
    for (let index = 0; index < keys.length; index += 1) {
      const key = keys[index] ?? '';
      if (key === '' || !present.includes(key) || found.includes(key)) continue;
      found.push(key);
      matches.push(list[index] ?? key);
    }
  }
  const state = matches[0] ?? rule[native];
  return { state, matches, isClosed: native === 'closed' && !stateIn(rule.terminal, state) };
}

/** The configured lists are the same for every issue of every poll. */
const NORMAL = new WeakMap<readonly string[], readonly string[]>();

function normalStates(list: readonly string[]): readonly string[] {
  const known = NORMAL.get(list) ?? list.map(normalState);
  NORMAL.set(list, known);
  return known;
}
