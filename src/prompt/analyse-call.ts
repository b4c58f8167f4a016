import { FUNCTIONS } from './functions.ts';
import { valueKindOf, truth, type TemplateValue } from './value.ts';
import { BOOL, NIL, NUMBER, STRING, type Alternatives, type Shape } from './variables.ts';

/** What is known of a value before there is data. */
export interface Known {
  readonly at: number;
  readonly shapes: Alternatives;
  /** Those of the shapes that are nil or maybe empty, and that no condition had looked at before. */
  readonly untested: Alternatives;
  /** The value itself, where the template spells it. */
  readonly literal?: TemplateValue;
  /** How the template names the value, where it does. */
  readonly text?: string;
}

/** The shapes a function other than `index` can return for what it is given. */
export function analyseCall(name: string, args: readonly Known[]): Alternatives {
  const definition = FUNCTIONS.get(name);
  if (definition?.stopsAt !== undefined) return firstThatStops(args, definition.stopsAt);
  if (definition && definition.result !== 'operand') return [RESULTS[definition.result]];
  return fallback(args);
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
