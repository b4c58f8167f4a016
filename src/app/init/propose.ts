import { normalState } from '../../domain/model/issue.ts';
import type { Board } from '../../ports/provider.ts';

/** Which states are worked on, which are over, and where finished work goes. */
export interface Proposal {
  readonly active: readonly string[];
  readonly terminal: readonly string[];
  readonly handoff: string | null;
}

/**
 * By the tracker's own word where it gives one, else by the names people commonly use. Where any state can be had, one of those
 * names stands for what was not found.
 */
export function proposeStates(board: Board): Proposal {
  const handoff = board.states.find(({ name, stage }) => stage !== 'done' && HANDOFF.test(normalState(name)))?.name ?? null;
  const rest = board.states.filter(({ name }) => name !== handoff);
  const by = (stage: 'waiting' | 'done', names: RegExp): readonly string[] => {
    const said = rest.filter((state) => state.stage === stage).map(({ name }) => name);
    return said.length > 0
      ? said
      : rest.filter((state) => state.stage === null && names.test(normalState(state.name))).map(({ name }) => name);
  };
  const found = { active: by('waiting', ACTIVE), terminal: by('done', TERMINAL), handoff };
  return board.createsMissing || board.what === 'labels' ? filled(board, found) : found;
}

/** Labels are written in small letters. States that nothing tells apart are those that issues wait in. */
function filled({ what, states }: Board, { active, terminal, handoff }: Proposal): Proposal {
  const spelled = (name: string): string => (what === 'labels' ? name.toLowerCase() : name);
  const unknown = states.map(({ name }) => name).filter((name) => name !== handoff && !terminal.includes(name));
  const waiting = what === 'states' && unknown.length > 0 ? unknown : [spelled('Todo')];
  return {
    active: active.length > 0 ? active : waiting,
    terminal: terminal.length > 0 ? terminal : [spelled('Done')],
    handoff: handoff ?? spelled('Review'),
  };
}

const HANDOFF = /(?:^|[\s:/_-])(?:in[\s_-]?)?(?:review|human[\s_-]review|ready[\s_-]for[\s_-]review|handoff)$/;
const ACTIVE = /(?:^|[\s:/_-])(?:to[\s_-]?do|ready|selected for development|agent|foray|queued|backlog)$/;
const TERMINAL = /(?:^|[\s:/_-])(?:done|closed|completed?|cancell?ed|wont[\s_-]?fix|wontfix|resolved|merged|duplicate)$/;
