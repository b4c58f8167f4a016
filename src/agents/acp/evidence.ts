/** What one turn came to, by what the agent sent while it ran. */
export interface TurnFacts {
  /** The model wrote something or called a tool. */
  readonly worked: boolean;
  readonly usedTools: boolean;
  /** A tool call ended well. */
  readonly toolWorked: boolean;
  /** What the agent asked for first and was refused, or null. */
  readonly refused: string | null;
  /** The beginning of what the model wrote. */
  readonly text: string;
  /** Why the turn failed, although the agent may call it a success. */
  readonly failure: string | null;
}

/** Collects what speaks for and against a turn. */
export interface Evidence {
  wrote(text: string): void;
  usedTool(isDone: boolean): void;
  refused(what: string): void;
  failed(): void;
  /** The agent gives a reason for a failure. */
  explained(why: string, isFailure: boolean): void;
  recovered(): void;
  /** What came so far was no work of this turn. */
  forget(): void;
  facts(): TurnFacts;
}

const TEXT_LENGTH = 2_000;
const NOTHING: TurnFacts = {
  worked: false,
  usedTools: false,
  toolWorked: false,
  refused: null,
  text: '',
  failure: null,
};

export function createEvidence(): Evidence {
  let facts = NOTHING;
  const change = (changes: Partial<TurnFacts>): void => {
    facts = { ...facts, ...changes };
  };
  return {
    // Work after a failure shows that the agent got over it.
    wrote: (text) => change({ worked: true, text: `${facts.text}${text}`.slice(0, TEXT_LENGTH), failure: null }),
    usedTool: (isDone) => change({ worked: true, usedTools: true, toolWorked: facts.toolWorked || isDone, failure: null }),
    refused: (what) => change({ refused: facts.refused ?? what }),
    failed: () => change({ failure: 'the agent reported a failure without a reason' }),
    explained(why, isFailure) {
      if (isFailure || facts.failure !== null) change({ failure: why });
    },
    recovered: () => change({ failure: null }),
    forget: () => change(NOTHING),
    facts: () => facts,
  };
}
