import { union, withoutNil, type Known } from './analyse-call.ts';
import { reportLack, untested, type Analysis } from './analyse-pass.ts';
import { fieldHint, shortName } from './spelling.ts';
import { NUMBER, ROOT, type Alternatives, type Shape } from './variables.ts';

/** The shapes that `index` can return for what it is given. */
export function analyseIndex(analysis: Analysis, [value, ...keys]: readonly Known[]): Alternatives {
  return keys.reduce((owner: Known, key) => indexOnce(analysis, owner, key), value ?? { at: 0, shapes: [], untested: [] }).shapes;
}

function indexOnce(analysis: Analysis, owner: Known, key: Known): Known {
  const faults = owner.shapes.map((shape) => faultOf(shape, key));
  const lacks = owner.untested.map(({ kind }) => (kind === 'nil' ? kind : 'empty'));
  if (faults[0] !== undefined && faults.every((fault) => fault !== undefined)) {
    analysis.problems.push({ at: key.at, severity: 'error', check: 'template.argument', message: `index: ${faults[0]}` });
  } else if (lacks.length > 0) {
    reportLack(analysis, owner.at, lacks.includes('nil') ? 'nil' : 'empty', owner.text);
  }
  const shapes = union(withoutNil(owner.shapes).flatMap((shape) => indexedBy(analysis, shape, key)));
  return { at: key.at, shapes, untested: untested(analysis, shapes) };
}

/** Why it fails whatever the data are; undefined where it may work. */
function faultOf({ kind }: Shape, key: Known): string | undefined {
  if (kind === 'map') return mayBe(key, 'string') ? undefined : `a map is indexed by a string, got ${keyText(key)}`;
  if (kind !== 'list' && kind !== 'string') return `${kind === 'nil' ? 'nil' : `a ${kind}`} cannot be indexed`;
  return mayBe(key, 'number') && mayBePlace(key)
    ? undefined
    : `a ${kind} is indexed by a whole number from 0, got ${keyText(key)}`;
}

function mayBe({ shapes }: Known, kind: Shape['kind']): boolean {
  return shapes.length === 0 || shapes.some((shape) => shape.kind === kind);
}

function mayBePlace({ literal }: Known): boolean {
  return typeof literal !== 'number' || (Number.isInteger(literal) && literal >= 0);
}

function keyText({ literal, shapes }: Known): string {
  return typeof literal === 'number' ? String(literal) : (shapes[0]?.kind ?? 'nil');
}

function indexedBy(analysis: Analysis, shape: Shape, key: Known): Alternatives {
  if (shape.kind === 'list') return shape.items;
  if (shape.kind === 'string') return [NUMBER];
  if (shape.kind !== 'map') return [];
  if (typeof key.literal !== 'string') return Object.values(shape.fields).flat();
  if (Object.hasOwn(shape.fields, key.literal)) return shape.fields[key.literal] ?? [];
  const check = shape === ROOT ? 'template.unknown_variable' : 'template.unknown_field';
  const message = `the map has no entry ${JSON.stringify(shortName(key.literal))}${fieldHint(key.literal, Object.keys(shape.fields))}`;
  analysis.problems.push({ at: key.at, severity: 'error', check, message });
  return [];
}
