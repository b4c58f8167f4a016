import type { Flow } from './analyse-flow.ts';
import { ROOT_SLOT } from './template.ts';
import type { Alternatives, Shape } from './variables.ts';

type TemplateCheck =
  /** No variable of this name at the top. */
  | 'template.unknown_variable'
  /** A value is known to lack the field. */
  | 'template.unknown_field'
  /** A variable of the top is read from the element of a range or with. */
  | 'template.dot_context'
  /** A field of something that is nil for most issues, with no condition on it before. */
  | 'template.nil_field'
  /** A range over something that has no elements. */
  | 'template.range'
  /** A format of printf with a directive that there is not, or with too few or too many of them. */
  | 'template.printf';

/** What a check of the workflow file reports of a template. An error would fail the rendering that reaches it. */
export interface TemplateProblem {
  readonly severity: 'error' | 'warning';
  readonly check: TemplateCheck;
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

interface Problem {
  readonly at: number;
  readonly severity: TemplateProblem['severity'];
  readonly check: TemplateCheck;
  readonly message: string;
}

/** One pass through the template. */
export interface Analysis {
  /** By slot: every shape the variable is given anywhere in the template. */
  readonly variables: Alternatives[];
  /** What they hold at the place that is looked at, where that is certain. */
  flow: Flow;
  readonly problems: Problem[];
  /** Maps that a condition has looked at: from there on the author knows that they may be nil. */
  readonly tested: Set<Shape>;
  /** A condition looked at a variable that may stand for any of them. */
  allTested: boolean;
  /** Inside a condition. */
  testing: boolean;
  changed: boolean;
}

/** Remembers what a condition looks at. A variable without fields may be the outcome of an earlier test of anything. */
export function noteTest(analysis: Analysis, shapes: Alternatives, slot = ROOT_SLOT): Alternatives {
  if (!analysis.testing) return shapes;
  const maps = shapes.filter((shape) => shape.kind === 'map');
  for (const map of maps) analysis.tested.add(map);
  if (slot !== ROOT_SLOT && maps.length === 0) analysis.allTested = true;
  return shapes;
}

/** Reads a condition. */
export function whileTesting<Result>(analysis: Analysis, read: () => Result): Result {
  return withTesting(analysis, true, read);
}

/** Reads what is no part of the condition around it. */
export function outsideTest<Result>(analysis: Analysis, read: () => Result): Result {
  return withTesting(analysis, false, read);
}

function withTesting<Result>(analysis: Analysis, testing: boolean, read: () => Result): Result {
  const before = analysis.testing;
  analysis.testing = testing;
  const result = read();
  analysis.testing = before;
  return result;
}
