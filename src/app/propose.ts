import { normalState } from '../domain/model/issue.ts';
import type { Board } from '../ports/provider.ts';

/** Which states are worked on, which are over, and where finished work goes. */
export interface Proposal {
  readonly active: readonly string[];
  readonly terminal: readonly string[];
  readonly handoff: string | null;
}

/** By the tracker's own word where it gives one, else by the names people commonly use. */
export function proposeStates(board: Board): Proposal {
  const handoff = board.states.find(({ name, stage }) => stage !== 'done' && HANDOFF.test(normalState(name)))?.name ?? null;
  const rest = board.states.filter(({ name }) => name !== handoff);
  const by = (stage: 'waiting' | 'done', names: RegExp): readonly string[] => {
    const said = rest.filter((state) => state.stage === stage).map(({ name }) => name);
    return said.length > 0
      ? said
      : rest.filter((state) => state.stage === null && names.test(normalState(state.name))).map(({ name }) => name);
  };
  return { active: by('waiting', ACTIVE), terminal: by('done', TERMINAL), handoff };
}

const HANDOFF = /(?:^|[\s:/_-])(?:in[\s_-]?)?(?:review|human[\s_-]review|ready[\s_-]for[\s_-]review|handoff)$/;
const ACTIVE = /(?:^|[\s:/_-])(?:to[\s_-]?do|ready|selected for development|agent|foray|queued|backlog)$/;
const TERMINAL = /(?:^|[\s:/_-])(?:done|closed|completed?|cancell?ed|wont[\s_-]?fix|wontfix|resolved|merged|duplicate)$/;
