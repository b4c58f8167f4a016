import { fieldHint, shortName } from './spelling.ts';
import { flowWithin, forgetLoop, goOnBehind, heldIn, type Flow } from './analyse-flow.ts';
import { reportArguments } from './analyse-arguments.ts';
import { analyseIndex } from './analyse-index.ts';
import { analyseCall, literalShape, union, withoutNil, type Known } from './analyse-call.ts';
import {
  pathText,
  ROOT_SLOT,
  type ChoiceNode,
  type Expression,
  type FieldExpression,
  type Node,
  type Pipe,
  type RangeNode,
  type Template,
} from './template.ts';
import { NUMBER, ROOT, STRING, type Alternatives, type Shape } from './variables.ts';
import {
  noteLook,
  noteTest,
  outsideTest,
  reportLack,
  untested,
  whileTesting,
  type Analysis,
  type TemplateProblem,
} from './analyse-pass.ts';

/** Enough for a person to start with; also bounds the work of finding positions. */
const MOST_PROBLEMS = 100;
/** Variables that are set from each other in a loop take a pass each to settle. No template a person writes takes more. */
const MOST_PASSES = 50;

/**
 * Finds what would fail, without data, by following the shapes of `.`, `$` and every variable through the template.
 * Branches that may never run are looked at too. A value that may have several shapes gives an error only when none of
 * them has the field, and a warning when some lack it.
 */
export function analyseTemplate(template: Template): TemplateProblem[] {
  const variables = Array.from({ length: template.slots }, (_, slot): Alternatives => (slot === ROOT_SLOT ? [ROOT] : []));
  let analysis = analysePass(template, variables);
  for (let passes = 1; analysis.changed && passes < MOST_PASSES; passes += 1) analysis = analysePass(template, variables);
  // Shapes still on their way could yet have the field, so nothing is certain.
  const unsettled = analysis.changed;
  return analysis.problems
    .toSorted((a, b) => a.at - b.at)
    .slice(0, MOST_PROBLEMS)
    .map(({ at, severity, check, message }) => ({
      severity: unsettled ? 'warning' : severity,
      check,
      message,
      ...template.positionOf(at),
    }));
}

function analysePass(template: Template, variables: Alternatives[]): Analysis {
  const analysis: Analysis = {
    variables,
    flow: flowWithin(null),
    problems: [],
    tested: new Set(),
    allTested: false,
    testing: false,
    tried: 0,
    changed: false,
  };
  analyseNodes(analysis, template.nodes, [ROOT]);
  return analysis;
}

function analyseNodes(analysis: Analysis, nodes: readonly Node[], dot: Alternatives): void {
  for (const node of nodes) {
    if (node.kind === 'action') analysePipe(analysis, node.pipe, dot);
    else if (node.kind === 'if' || node.kind === 'with') analyseChoice(analysis, node, dot);
    else if (node.kind === 'range') analyseRange(analysis, node, dot);
  }
}

function analyseChoice(analysis: Analysis, node: ChoiceNode, dot: Alternatives): void {
  const ends: Flow[] = [];
  for (const { condition, body } of node.branches) {
    const shapes = whileTesting(analysis, () => analysePipe(analysis, condition, dot));
    ends.push(analyseBlock(analysis, body, node.kind === 'with' ? withoutNil(shapes) : dot));
  }
  ends.push(analyseBlock(analysis, node.otherwise, dot));
  goOnBehind(analysis.flow, ends);
}

/** What is known at its end. */
function analyseBlock(analysis: Analysis, nodes: readonly Node[], dot: Alternatives): Flow {
  const [before, within] = [analysis.flow, flowWithin(analysis.flow)];
  analysis.flow = within;
  analyseNodes(analysis, nodes, dot);
  analysis.flow = before;
  return within;
}

function analysePipe(analysis: Analysis, pipe: Pipe, dot: Alternatives): Alternatives {
  const { shapes } = analyseExpression(analysis, pipe.value, dot);
  for (const slot of pipe.sets) {
    widen(analysis, slot, shapes);
    analysis.flow.set.set(slot, shapes);
  }
  return shapes;
}

function analyseRange(analysis: Analysis, node: RangeNode, dot: Alternatives): void {
  const { pipe } = node;
  const { shapes } = analyseExpression(analysis, pipe.value, dot);
  noteLook(analysis, shapes);
  const over = withoutNil(shapes);
  const usable = over.filter(
    (shape) => shape.kind === 'list' || shape.kind === 'map' || (shape.kind === 'number' && pipe.sets.length < 2),
  );
  if (over[0] && usable.length === 0) {
    const message = `range cannot go over a ${over[0].kind}${over[0].kind === 'number' ? ' with two variables' : ''}`;
    analysis.problems.push({ at: pipe.at, severity: 'error', check: 'template.range', message });
  }
  const items = union(usable.flatMap(itemsOf));
  const keys = union(usable.map((shape) => (shape.kind === 'map' ? STRING : NUMBER)));
  const values = [keys, items].slice(-pipe.sets.length);
  pipe.sets.forEach((slot, index) => widen(analysis, slot, values[index] ?? []));
  forgetLoop(analysis.flow, node);
  analyseBlock(analysis, node.body, items);
  analyseBlock(analysis, node.otherwise, dot);
}

function itemsOf(shape: Shape): Alternatives {
  if (shape.kind === 'list') return shape.items;
  return shape.kind === 'map' ? Object.values(shape.fields).flat() : [NUMBER];
}

/** A variable may hold whatever is put into it anywhere: a loop can bring it back to an earlier line. */
function widen(analysis: Analysis, slot: number, shapes: Alternatives): void {
  const before = analysis.variables[slot] ?? [];
  const after = union([...before, ...shapes]);
  if (after.length > before.length) analysis.changed = true;
  analysis.variables[slot] = after;
}

function analyseExpression(analysis: Analysis, expression: Expression, dot: Alternatives): Known {
  const { at } = expression;
  switch (expression.kind) {
    case 'literal':
      return { at, shapes: [literalShape(expression.value)], untested: [], literal: expression.value };
    case 'dot':
      return readValue(analysis, { at, text: '.', shapes: dot });
    case 'variable': {
      const { slot, name } = expression;
      const shapes = heldIn(analysis.flow, slot) ?? analysis.variables[slot] ?? [];
      return readValue(analysis, { at, text: shortName(name), shapes }, slot);
    }
    case 'field': {
      const shapes = analyseField(analysis, expression, dot);
      return readValue(analysis, { at, text: pathText(expression, expression.path.length), shapes });
    }
    case 'call':
      return callResult(analysis, expression, dot);
    case 'pipeline':
      return expression.stages.reduce<Known>(
        (piped, stage) => callResult(analysis, stage, dot, piped),
        analyseExpression(analysis, expression.first, dot),
      );
  }
}

function readValue(analysis: Analysis, value: Omit<Known, 'untested'>, slot?: number): Known {
  const known = { ...value, untested: untested(analysis, value.shapes) };
  noteTest(analysis, value.shapes, slot);
  return known;
}

function callResult(analysis: Analysis, call: Expression & { kind: 'call' }, dot: Alternatives, piped?: Known): Known {
  const readArgs = () => call.args.map((arg) => analyseExpression(analysis, arg, dot));
  // The operands of and, or guard each other from left to right.
  const own = call.name === 'and' || call.name === 'or' ? whileTesting(analysis, readArgs) : readArgs();
  const args = piped ? [...own, piped] : own;
  reportArguments(analysis, call.name, call.at, args);
  const shapes = call.name === 'index' ? analyseIndex(analysis, args) : analyseCall(call.name, args);
  return { at: call.at, shapes, untested: untested(analysis, shapes) };
}

function analyseField(analysis: Analysis, expression: FieldExpression, dot: Alternatives): Alternatives {
  // Reading a field of something does not test whether that is nil.
  const base = outsideTest(analysis, () => analyseExpression(analysis, expression.base, dot).shapes);
  return expression.path.reduce((shapes, _, index) => readField(analysis, expression, index, shapes), base);
}

function readField(analysis: Analysis, expression: FieldExpression, index: number, shapes: Alternatives): Alternatives {
  const name = expression.path[index]?.name ?? '';
  const present = withoutNil(shapes);
  const owners = present.filter((shape) => shape.kind === 'map' && Object.hasOwn(shape.fields, name));
  if (owners.length < present.length) reportMissing(analysis, expression, index, present, owners.length > 0);
  else if (present.length < shapes.length) reportNil(analysis, expression, index, present);
  return union(owners.flatMap((shape) => (shape.kind === 'map' ? (shape.fields[name] ?? []) : [])));
}

function reportMissing(
  analysis: Analysis,
  expression: FieldExpression,
  index: number,
  present: Alternatives,
  some: boolean,
): void {
  const { name = '', at = 0 } = expression.path[index] ?? {};
  const severity = some ? 'warning' : 'error';
  const owner = pathText(expression, index);
  const known = [...new Set(present.flatMap((shape) => (shape.kind === 'map' ? Object.keys(shape.fields) : [])))];
  const hint = some ? `, which ${owner} has only sometimes` : fieldHint(name, known);
  if (present.includes(ROOT)) {
    analysis.problems.push({
      at,
      severity,
      check: 'template.unknown_variable',
      message: `unknown variable .${shortName(name)}${hint}`,
    });
  } else if (index === 0 && expression.base.kind === 'dot' && Object.hasOwn(ROOT.fields, name)) {
    const message = `.${name} is not in the element that . stands for here; write $${pathText(expression, expression.path.length)}`;
    analysis.problems.push({ at, severity, check: 'template.dot_context', message });
  } else {
    const noFields = known.length === 0 ? `: ${owner} is a ${present[0]?.kind} and has no fields` : ` of ${owner}${hint}`;
    analysis.problems.push({
      at,
      severity,
      check: 'template.unknown_field',
      message: `unknown field .${shortName(name)}${noFields}`,
    });
  }
}

function reportNil(analysis: Analysis, expression: FieldExpression, index: number, present: Alternatives): void {
  if (analysis.allTested || present.every((shape) => analysis.tested.has(shape))) return;
  reportLack(analysis, expression.path[index]?.at ?? 0, 'nil', pathText(expression, index));
}
