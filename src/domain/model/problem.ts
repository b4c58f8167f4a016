/** Something wrong with a workflow file, found without the network. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  /** Stable id, such as `tracker.project.format`. */
  readonly check: string;
  readonly message: string;
  /** The key it is about, such as `['tracker', 'project']`: the loader turns it into line and column. */
  readonly key?: readonly (string | number)[];
}
