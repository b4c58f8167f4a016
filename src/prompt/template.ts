import type { PositionOf } from './position.ts';
import { shortName } from './spelling.ts';
import type { TemplateValue } from './value.ts';

/** A parsed template. Rendering and analysing read it; nothing changes it. Every `at` is an offset in the source. */
export interface Template {
  readonly nodes: readonly Node[];
  /** How many variables it declares, `$` included. */
  readonly slots: number;
  readonly positionOf: PositionOf;
}

export type Node = TextNode | ActionNode | ChoiceNode | RangeNode | JumpNode;

interface TextNode {
  readonly kind: 'text';
  readonly at: number;
  readonly text: string;
}

interface ActionNode {
  readonly kind: 'action';
  readonly at: number;
  readonly pipe: Pipe;
}

/** `if` or `with`, with one branch for each `else if` or `else with`: a long chain is a list, not a deep tree. */
export interface ChoiceNode {
  readonly kind: 'if' | 'with';
  readonly at: number;
  readonly branches: readonly Branch[];
  readonly otherwise: readonly Node[];
}

export interface Branch {
  readonly condition: Pipe;
  readonly body: readonly Node[];
}

export interface RangeNode {
  readonly kind: 'range';
  readonly at: number;
  readonly pipe: Pipe;
  readonly body: readonly Node[];
  readonly otherwise: readonly Node[];
}

interface JumpNode {
  readonly kind: 'break' | 'continue';
  readonly at: number;
}

/** A pipeline and the variables it sets: none, one, or the two of a range. */
export interface Pipe {
  readonly at: number;
  readonly value: Expression;
  /**
   * Every declaration has a slot of its own for the whole template, so scopes need no bookkeeping at render time:
   * the parser has already decided which declaration a name means.
   */
  readonly sets: readonly number[];
}

export type Expression = Literal | DotExpression | VariableExpression | FieldExpression | CallExpression | PipelineExpression;

export interface Literal {
  readonly kind: 'literal';
  readonly at: number;
  readonly value: TemplateValue;
}

interface DotExpression {
  readonly kind: 'dot';
  readonly at: number;
}

interface VariableExpression {
  readonly kind: 'variable';
  readonly at: number;
  readonly name: string;
  readonly slot: number;
}

/** `.a.b`, `$x.a.b` or `(…).a.b`. */
export interface FieldExpression {
  readonly kind: 'field';
  readonly at: number;
  readonly base: DotExpression | VariableExpression | CallExpression | PipelineExpression;
  readonly path: readonly FieldName[];
}

export interface FieldName {
  readonly at: number;
  readonly name: string;
}

export interface CallExpression {
  readonly kind: 'call';
  readonly at: number;
  readonly name: string;
  readonly args: readonly Expression[];
}

/** Each stage gets the value before it as its last argument. */
interface PipelineExpression {
  readonly kind: 'pipeline';
  readonly at: number;
  readonly first: Expression;
  readonly stages: readonly CallExpression[];
}

/** The slot of `$`, the whole of the data. */
export const ROOT_SLOT = 0;

/** The first names of a chain as they are written, for messages: `.issue.parent`, `$c.author`, `(…).id`. */
export function pathText(expression: FieldExpression, length: number): string {
  const names = expression.path.slice(0, length).map((field) => `.${shortName(field.name)}`);
  return `${baseText(expression.base)}${names.join('')}` || '.';
}

function baseText(base: FieldExpression['base']): string {
  if (base.kind === 'dot') return '';
  return base.kind === 'variable' ? shortName(base.name) : '(…)';
}
