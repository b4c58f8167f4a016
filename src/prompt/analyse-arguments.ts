import type { Known } from './analyse-call.ts';
import { reportLack, type Analysis } from './analyse-pass.ts';
import { TOO_LARGE } from './limits.ts';
import { FUNCTIONS, type TemplateFunction } from './functions.ts';
import { findFormatFault } from './printf.ts';
import { quotedText } from './spelling.ts';
import { valueKindOf, type TemplateValue, type ValueKind } from './value.ts';

/** A call with more ways to be given its arguments than any template that a person writes is not judged. */
const MOST_TRIALS = 100;
/** Characters that trials go through in one pass: a format may ask for a million of them at each place. */
const MOST_TRIED = 10_000_000;

/** One value of each kind. What a function does with an empty list or map it can do for some issue. */
const SAMPLES: Readonly<Record<ValueKind, TemplateValue>> = { nil: null, bool: true, number: 1, string: '', list: [], map: {} };

/**
 * Reports what a function cannot take, by trying the function itself: an error where it fails whatever its arguments are,
 * a warning where it fails when one of them is nil.
 */
export function reportArguments(analysis: Analysis, name: string, at: number, args: readonly Known[]): void {
  const definition = FUNCTIONS.get(name);
  if (!definition || definition.result === 'operand') return;
  if (name === 'printf' && !isFormatSound(analysis, at, args)) return;
  // The rest is not compared once one of them is equal.
  const trials = trialsOf(analysis, definition, name === 'eq' ? args.slice(0, 2) : args);
  const [first] = trials;
  if (first?.fault !== undefined && trials.every(({ fault }) => fault !== undefined)) {
    analysis.problems.push({ at, severity: 'error', ...describeFault(name, first.fault, args, first.values) });
    return;
  }
  args.forEach((arg, index) => {
    const withNil = trials.filter(({ values }) => values[index] === null);
    const isNew = arg.untested.some(({ kind }) => kind === 'nil');
    if (isNew && withNil.length > 0 && withNil.every(({ fault }) => fault !== undefined)) {
      reportLack(analysis, arg.at, 'nil', arg.text);
    }
  });
}

/** A format that the template spells fails in the same way for every issue; of another one nothing is known. */
function isFormatSound(analysis: Analysis, at: number, [format, ...args]: readonly Known[]): boolean {
  if (typeof format?.literal !== 'string') return false;
  const fault = findFormatFault(format.literal, args.length);
  if (fault === undefined) return true;
  analysis.problems.push({ at, severity: 'error', check: 'template.printf', message: `printf: ${fault}` });
  return false;
}

function describeFault(name: string, fault: string, [format]: readonly Known[], values: readonly TemplateValue[]) {
  if (name !== 'printf') return { check: 'template.argument', message: `${name}: ${fault}` } as const;
  // Its own words would show the sample.
  const kinds = values.slice(1).map(valueKindOf).join(', ');
  return { check: 'template.printf', message: `printf: ${quotedText(String(format?.literal))} cannot print ${kinds}` } as const;
}

interface Trial {
  readonly values: readonly TemplateValue[];
  readonly fault: string | undefined;
}

/** One for each way to give the arguments; none where something is not known. */
function trialsOf(analysis: Analysis, definition: TemplateFunction, args: readonly Known[]): readonly Trial[] {
  const choices = args.map(samplesOf);
  const ways = choices.reduce((product, { length }) => product * length, 1);
  if (ways > MOST_TRIALS || analysis.tried > MOST_TRIED) return [];
  const combinations = choices.reduce<TemplateValue[][]>(
    (before, samples) => before.flatMap((values) => samples.map((sample) => [...values, sample])),
    [[]],
  );
  return combinations.map((values) => ({ values, fault: faultOf(analysis, definition, values) }));
}

function samplesOf({ literal, shapes }: Known): readonly TemplateValue[] {
  return literal === undefined ? [...new Set(shapes.map(({ kind }) => SAMPLES[kind]))] : [literal];
}

/** What it says when it fails. How much it makes is for the rendering to bound. */
function faultOf(analysis: Analysis, definition: TemplateFunction, values: readonly TemplateValue[]): string | undefined {
  try {
    definition.call(values, {
      fail: (detail) => new Fault(detail),
      spend: (characters) => void (analysis.tried += characters),
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.message === TOO_LARGE ? undefined : error.message;
  }
}

class Fault extends Error {}
