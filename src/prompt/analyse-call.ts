import { FUNCTIONS } from './functions.ts';
import { valueKindOf, truth, type TemplateValue } from './value.ts';
import { BOOL, NIL, NUMBER, STRING, type Alternatives, type Shape } from './variables.ts';

/** What is known of a value before there is data. */
export interface Known {
  readonly at: number;
  readonly shapes: Alternatives;
  /** The value itself, where the template spells it. */
  readonly literal?: TemplateValue;
}

type MapShape = Shape & { readonly kind: 'map' };
type ReportKey = (at: number, map: MapShape, key: string) => void;

/** The shapes a function can return for what it is given. */
export function analyseCall(name: string, args: readonly Known[], reportKey: ReportKey): Alternatives {
  const definition = FUNCTIONS.get(name);
  if (definition?.stopsAt !== undefined) return firstThatStops(args, definition.stopsAt);
  if (definition && definition.result !== 'operand') return [RESULTS[definition.result]];
  return name === 'index' ? indexed(args, reportKey) : fallback(args);
}

const RESULTS = { bool: BOOL, number: NUMBER, string: STRING } as const;

/** Each shape once. */
export function union(shapes: Alternatives): Alternatives {
  return [...new Set(shapes)];
}

export function withoutNil(shapes: Alternatives): Alternatives {
  return shapes.filter((shape) => shape.kind !== 'nil');
}

export function literalShape(value: TemplateValue): Shape {
  const kind = valueKindOf(value);
  return kind === 'bool' || kind === 'number' || kind === 'string' ? RESULTS[kind] : NIL;
}

/** `and` and `or` return the first operand of the truth they stop at, or else the last. */
function firstThatStops(args: readonly Known[], stopsAt: boolean): Alternatives {
  const shapes: Shape[] = [];
  for (const [index, arg] of args.entries()) {
    if (index === args.length - 1) shapes.push(...arg.shapes);
    else shapes.push(...ofTruth(arg, stopsAt));
    if (ofTruth(arg, !stopsAt).length === 0) break;
  }
  return union(shapes);
}

/** `default`: the second when it is true, else the first. */
function fallback([first, second]: readonly Known[]): Alternatives {
  if (!first || !second) return [];
  return union([...ofTruth(second, true), ...(ofTruth(second, false).length > 0 ? first.shapes : [])]);
}

/** The shapes a value can have when it is true, or when it is false. A map of the table always has entries. */
function ofTruth({ shapes, literal }: Known, wanted: boolean): Alternatives {
  if (literal !== undefined) return truth(literal) === wanted ? shapes : [];
  return wanted ? withoutNil(shapes) : shapes.filter((shape) => shape.kind !== 'map');
}

function indexed([value, ...keys]: readonly Known[], reportKey: ReportKey): Alternatives {
  return keys.reduce((shapes, key) => union(shapes.flatMap((shape) => indexedBy(shape, key, reportKey))), value?.shapes ?? []);
}

function indexedBy(shape: Shape, key: Known, reportKey: ReportKey): Alternatives {
  if (shape.kind === 'list') return shape.items;
  if (shape.kind === 'string') return [NUMBER];
  if (shape.kind !== 'map') return [];
  if (typeof key.literal !== 'string') return Object.values(shape.fields).flat();
  if (Object.hasOwn(shape.fields, key.literal)) return shape.fields[key.literal] ?? [];
  reportKey(key.at, shape, key.literal);
  return [];
}
