/** Something wrong with a workflow file, found without the network. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  /** Stable id, such as `tracker.project.format`. */
  readonly check: string;
  readonly message: string;
  /** The file itself is as it should be: plain `validate` has nothing to say of it. Told at start, by `doctor` and with `--strict`. */
  readonly isAdvice?: true;
  /** The key it is about, such as `['tracker', 'project']`: the loader turns it into line and column. */
  readonly key?: readonly (string | number)[];
  /** Variables that are not set and therefore to blame. */
  readonly unset?: readonly string[];
  /** Where it is in the file; the message ends with it too. */
  readonly position?: SourcePosition;
}

/** Both count from 1. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

/** The same for programs, with the place in the file on its own. */
export interface ProblemFacts extends Pick<Problem, 'severity' | 'check' | 'message'> {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
}
