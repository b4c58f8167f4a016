import { evaluate, spend, type Evaluation } from './evaluate.ts';
import { MAX_ITERATIONS, MAX_OUTPUT_BYTES, TOO_LARGE } from './limits.ts';
import { createErrorAt } from './position.ts';
import { ROOT_SLOT, type ChoiceNode, type Node, type Pipe, type RangeNode, type Template } from './template.ts';
import { formatValue, isList, isMap, valueKindOf, sortedKeys, truth, type TemplateValue } from './value.ts';
import type { TemplateData } from './variables.ts';

interface Run extends Evaluation {
  readonly out: string[];
  bytes: number;
  iterations: number;
}

/** How a list of nodes ended: to its end, or by a jump that the enclosing range must act on. */
type Ending = 'done' | 'break' | 'continue';

/**
 * Renders a prompt. Strict like Go with `missingkey=error`: an unknown field, a field of nil, or a value of the wrong
 * kind throws a TemplateError that names its line and column.
 *
 * Where it differs from Go: nil prints as the empty string, there is one kind of number (`eq 1 1.0` holds), `index`
 * with a key a map does not have is an error, and output, iterations and steps are bounded.
 */
export function renderTemplate(template: Template, data: TemplateData): string {
  const run: Run = {
    root: data,
    variables: Array.from({ length: template.slots }, (_, slot) => (slot === ROOT_SLOT ? data : null)),
    errorAt: createErrorAt(template.positionOf),
    steps: 0,
    out: [],
    bytes: 0,
    iterations: 0,
  };
  renderNodes(run, template.nodes, data);
  return run.out.join('');
}

function renderNodes(run: Run, nodes: readonly Node[], dot: TemplateValue): Ending {
  for (const node of nodes) {
    const ending = renderNode(run, node, dot);
    if (ending !== 'done') return ending;
  }
  return 'done';
}

function renderNode(run: Run, node: Node, dot: TemplateValue): Ending {
  spend(run, 1, node.at);
  switch (node.kind) {
    case 'text':
      write(run, node.text, node.at);
      return 'done';
    case 'action':
      renderAction(run, node.pipe, dot);
      return 'done';
    case 'if':
    case 'with':
      return renderChoice(run, node, dot);
    case 'range':
      return renderRange(run, node, dot);
    case 'break':
    case 'continue':
      return node.kind;
  }
}

/** An action that sets a variable prints nothing. */
function renderAction(run: Run, pipe: Pipe, dot: TemplateValue): void {
  const value = evaluatePipe(run, pipe, dot);
  if (pipe.sets.length === 0) write(run, formatValue(value), pipe.at);
}

function renderChoice(run: Run, node: ChoiceNode, dot: TemplateValue): Ending {
  for (const branch of node.branches) {
    const value = evaluatePipe(run, branch.condition, dot);
    if (truth(value)) return renderNodes(run, branch.body, node.kind === 'with' ? value : dot);
  }
  return renderNodes(run, node.otherwise, dot);
}

function renderRange(run: Run, node: RangeNode, dot: TemplateValue): Ending {
  const value = evaluate(run, node.pipe.value, dot);
  let passes = 0;
  for (const [key, item] of entriesOf(run, node, value)) {
    passes += 1;
    countIteration(run, node.at);
    setVariables(run, node.pipe, [key, item].slice(-node.pipe.sets.length));
    if (renderNodes(run, node.body, item) === 'break') break;
  }
  return passes === 0 ? renderNodes(run, node.otherwise, dot) : 'done';
}

/** What a range goes through: key and element. Nil is like an empty list. */
function entriesOf(run: Run, node: RangeNode, value: TemplateValue): Iterable<readonly [TemplateValue, TemplateValue]> {
  if (value === null) return [];
  if (isList(value)) return value.entries();
  if (isMap(value)) return sortedKeys(value).map((key) => [key, value[key] ?? null] as const);
  const isCount = typeof value === 'number' && Number.isInteger(value);
  if (isCount && node.pipe.sets.length < 2) return countTo(value);
  const detail = isCount ? 'with two variables' : '';
  throw run.errorAt(node.pipe.at, `range cannot go over a ${valueKindOf(value)} ${detail}`.trimEnd());
}

function* countTo(end: number): Generator<readonly [number, number]> {
  for (let number = 0; number < end; number += 1) yield [number, number];
}

function countIteration(run: Run, at: number): void {
  run.iterations += 1;
  if (run.iterations > MAX_ITERATIONS) throw run.errorAt(at, `rendering takes more than ${MAX_ITERATIONS} range iterations`);
}

function evaluatePipe(run: Run, pipe: Pipe, dot: TemplateValue): TemplateValue {
  const value = evaluate(run, pipe.value, dot);
  setVariables(run, pipe, [value]);
  return value;
}

function setVariables(run: Run, pipe: Pipe, values: readonly TemplateValue[]): void {
  pipe.sets.forEach((slot, index) => {
    run.variables[slot] = values[index] ?? null;
  });
}

function write(run: Run, text: string, at: number): void {
  run.bytes += text.length > MAX_OUTPUT_BYTES ? text.length : Buffer.byteLength(text);
  if (run.bytes > MAX_OUTPUT_BYTES) throw run.errorAt(at, TOO_LARGE);
  run.out.push(text);
}
