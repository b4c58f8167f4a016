import { FUNCTIONS } from './functions.ts';
import { CHARS_PER_STEP, MAX_OUTPUT_BYTES, MAX_STEPS, TOO_LARGE } from './limits.ts';
import type { ErrorAt } from './position.ts';
import { fieldHint, shortName } from './spelling.ts';
import { pathText, type CallExpression, type Expression, type FieldExpression } from './template.ts';
import { entryOf, isMap, valueKindOf, truth, type TemplateMap, type TemplateValue } from './value.ts';

/** What one rendering knows while it evaluates. */
export interface Evaluation {
  readonly root: TemplateMap;
  /** By slot; the first is the root. */
  readonly variables: TemplateValue[];
  readonly errorAt: ErrorAt;
  steps: number;
}

/** The value of an expression. Depth is bounded by the parser: only parentheses nest. */
export function evaluate(run: Evaluation, expression: Expression, dot: TemplateValue): TemplateValue {
  spend(run, 1, expression.at);
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'dot':
      return dot;
    case 'variable':
      return run.variables[expression.slot] ?? null;
    case 'field':
      return evaluateField(run, expression, dot);
    case 'call':
      return evaluateCall(run, expression, dot);
    case 'pipeline':
      return expression.stages.reduce(
        (piped, stage) => evaluateCall(run, stage, dot, piped),
        evaluate(run, expression.first, dot),
      );
  }
}

/** Counts work, so that no template keeps the daemon busy for long. */
export function spend(run: Evaluation, steps: number, at: number): void {
  run.steps += steps;
  if (run.steps > MAX_STEPS) throw run.errorAt(at, `rendering takes more than ${MAX_STEPS} steps`);
}

function evaluateField(run: Evaluation, expression: FieldExpression, dot: TemplateValue): TemplateValue {
  let value = evaluate(run, expression.base, dot);
  for (let index = 0; index < expression.path.length; index += 1) value = readField(run, expression, index, value);
  return value;
}

function readField(run: Evaluation, expression: FieldExpression, index: number, value: TemplateValue): TemplateValue {
  const { name = '', at = 0 } = expression.path[index] ?? {};
  spend(run, 1, at);
  const found = isMap(value) ? entryOf(value, name) : undefined;
  if (found !== undefined) return found;
  throw run.errorAt(at, describeMiss(run, expression, index, value));
}

function describeMiss(run: Evaluation, expression: FieldExpression, index: number, value: TemplateValue): string {
  const name = expression.path[index]?.name ?? '';
  const owner = pathText(expression, index);
  if (value === null) return `cannot read .${shortName(name)} of ${owner}: nil value; guard it with {{ if ${owner} }}`;
  if (value === run.root) return `unknown variable .${shortName(name)}${fieldHint(name, Object.keys(run.root))}`;
  if (index === 0 && expression.base.kind === 'dot' && entryOf(run.root, name) !== undefined) {
    return `.${name} is not in the element that . stands for here; write $${pathText(expression, expression.path.length)}`;
  }
  if (!isMap(value)) return `unknown field .${shortName(name)}: ${owner} is a ${valueKindOf(value)} and has no fields`;
  return `unknown field .${shortName(name)} of ${owner}${fieldHint(name, Object.keys(value))}`;
}

function evaluateCall(run: Evaluation, call: CallExpression, dot: TemplateValue, piped?: TemplateValue): TemplateValue {
  const { name, at } = call;
  const definition = FUNCTIONS.get(name);
  if (!definition) throw run.errorAt(at, `unknown function ${name}`);
  spend(run, 1, at);
  const args: TemplateValue[] = [];
  for (const arg of call.args) {
    const value = evaluate(run, arg, dot);
    if (definition.stopsAt === truth(value)) return value;
    args.push(value);
  }
  if (piped !== undefined) args.push(piped);
  const result = definition.call(args, {
    fail: (detail) => run.errorAt(at, detail === TOO_LARGE ? detail : `${name}: ${detail}`),
    spend: (characters) => spend(run, Math.ceil(characters / CHARS_PER_STEP), at),
  });
  if (typeof result === 'string' && result.length > MAX_OUTPUT_BYTES) throw run.errorAt(at, TOO_LARGE);
  return result;
}
