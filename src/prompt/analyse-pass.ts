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
  /** Something that is nil or empty for some issues is used as if it never were, with no condition on it before. */
  | 'template.nil_field'
  /** A range over something that has no elements. */
  | 'template.range'
  /** A format of printf with a directive that there is not, or with too few or too many of them. */
  | 'template.printf'
  /** A function is given what it cannot take. */
  | 'template.argument';

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
  /** Maps, lists and nils that a condition has looked at: from there on the author knows that they may be nil or empty. */
  readonly tested: Set<Shape>;
  /** A condition looked at a variable that may stand for any of them. */
  allTested: boolean;
  /** Inside a condition. */
  testing: boolean;
  /** What functions have gone through while they were tried. */
  tried: number;
  changed: boolean;
}

/** Remembers what a condition looks at. A variable without fields may be the outcome of an earlier test of anything. */
export function noteTest(analysis: Analysis, shapes: Alternatives, slot = ROOT_SLOT): Alternatives {
  if (!analysis.testing) return shapes;
  noteLook(analysis, shapes);
  if (slot !== ROOT_SLOT && !shapes.some((shape) => shape.kind === 'map')) analysis.allTested = true;
  return shapes;
}

/** Remembers that something was looked at before it is used. */
export function noteLook(analysis: Analysis, shapes: Alternatives): void {
  for (const shape of shapes) if (shape.kind === 'map' || mayLack(shape)) analysis.tested.add(shape);
}

/** Nil or maybe empty, and no condition has looked at it yet. */
export function untested({ allTested, tested }: Analysis, shapes: Alternatives): Alternatives {
  return allTested ? [] : shapes.filter((shape) => mayLack(shape) && !tested.has(shape));
}

function mayLack({ kind }: Shape): boolean {
  return kind === 'nil' || kind === 'list';
}

/** Something is nil or empty for some issues, and then what is done with it fails. */
export function reportLack(analysis: Analysis, at: number, lack: 'nil' | 'empty', text: string | undefined): void {
  const subject = text ?? 'what is given here';
  const message = `${subject} may be ${lack}, and then this fails; guard it with {{ if${text === undefined ? '' : ` ${text}`} }}`;
  analysis.problems.push({ at, severity: 'warning', check: 'template.nil_field', message });
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
