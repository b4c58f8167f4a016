import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FULL_SUBJECT, BARE_SUBJECT } from '../../test/support/prompt-subject.ts';
import { TemplateError } from '../domain/model/errors.ts';
import { analyseTemplate } from './analyse.ts';
import { FUNCTIONS } from './functions.ts';
import { parseTemplate } from './parse.ts';
import { renderTemplate } from './render.ts';
import { isList, isMap, type TemplateValue } from './value.ts';
import { ROOT, templateData, type Alternatives } from './variables.ts';

/** One fixed walk through the inputs, so that a run tells the same twice. */
const SEED = 20_260_101;

const FULL = templateData(FULL_SUBJECT);
const BARE = templateData(BARE_SUBJECT);

/** Does all there is to do with a source; anything but a TemplateError comes out. */
function exercise(source: string): void {
  try {
    const template = parseTemplate(source);
    analyseTemplate(template);
    for (const data of [FULL, BARE]) renderTemplate(template, data);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
  }
}

/** What rendering throws, or undefined. */
function failureOf(source: string, data = FULL): string | undefined {
  try {
    renderTemplate(parseTemplate(source), data);
    return undefined;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

const TOKENS = [
  ...'{{ }} {{- -}} {{/* */}} ( ) | , := = . $ $x $y " \' ` if else end range with break continue nil true template'.split(' '),
  ...String.raw`0 -1 1.5 0x 1e9 "a" "%s" "%99999d" "\x" .issue .labels .title .nope .__proto__`.split(' '),
  ...FUNCTIONS.keys(),
  ' ',
  ' ',
  ' ',
  '\n',
  ' -}}',
  '{{ end }}',
  '{{ else }}',
  '{{ range ',
  '{{ if ',
];

describe('any input', () => {
  it('arbitrary text gives a template or a TemplateError', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), exercise), { numRuns: 300, seed: SEED });
  });

  it('arbitrary text inside an action gives one of the two as well', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => exercise(`a {{ ${text} }} b`)),
      { numRuns: 300, seed: SEED },
    );
  });

  it('arbitrary sequences of tokens give one of the two', () => {
    const sources = fc.array(fc.constantFrom(...TOKENS), { maxLength: 40 }).map((tokens) => tokens.join(''));
    fc.assert(fc.property(sources, exercise), { numRuns: 700, seed: SEED });
  });

  it('arbitrary actions that lex give one of the two', () => {
    const words = fc.array(fc.constantFrom(...TOKENS.filter((token) => !/[{}"`'*]/.test(token))), { maxLength: 8 });
    const sources = fc
      .array(words, { maxLength: 6 })
      .map((actions) => actions.map((action) => `{{ ${action.join(' ')} }}`).join('x'));
    fc.assert(fc.property(sources, exercise), { numRuns: 700, seed: SEED });
  });

  it('arbitrary formats give one of the two', () => {
    const format = fc.string({ unit: fc.constantFrom(...Array.from('%sdvqtfxXc0123456789.-+# *[]é😀')), maxLength: 12 });
    const args = fc.array(fc.constantFrom('1', '-2.5', '"é"', '.issue', '.issue.labels', 'true', 'nil'), { maxLength: 3 });
    fc.assert(
      fc.property(format, args, (text, list) => exercise(`{{ printf "${text}" ${list.join(' ')} }}`)),
      { numRuns: 1000, seed: SEED },
    );
  });

  it('arbitrary text of an issue comes out as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (title) => {
        const data = templateData({ ...FULL_SUBJECT, issue: { ...FULL_SUBJECT.issue, title } });
        expect(renderTemplate(parseTemplate('{{ .issue.title }}'), data)).toBe(title);
      }),
      { seed: SEED },
    );
  });

  it('text without actions comes out as it is', () => {
    const texts = fc.string({ unit: 'binary' }).filter((text) => !text.includes('{{'));
    fc.assert(
      fc.property(texts, (text) => {
        expect(renderTemplate(parseTemplate(text), FULL)).toBe(text);
      }),
      { seed: SEED },
    );
  });
});

/** Every field name there is, some that are not, and the variables that the generated templates declare. */
const NAMES = [...new Set([...fieldNames([ROOT]), 'nope', 'constructor'])];

function fieldNames(shapes: Alternatives): string[] {
  return shapes.flatMap((shape) => {
    if (shape.kind === 'list') return fieldNames(shape.items);
    return shape.kind === 'map' ? Object.entries(shape.fields).flatMap(([name, field]) => [name, ...fieldNames(field)]) : [];
  });
}

/** A walk down the table: what can be written after a value of these shapes, with a wrong name now and then. */
function chains(shapes: Alternatives): fc.Arbitrary<string> {
  const wrong = fc.constantFrom(...NAMES).map((name) => `.${name}`);
  const deeper = shapes.flatMap((shape) =>
    shape.kind === 'map'
      ? Object.entries(shape.fields).map(([name, field]) => chains(field).map((rest) => `.${name}${rest}`))
      : [],
  );
  const [first, ...rest] = deeper;
  if (!first) return fc.oneof({ arbitrary: fc.constant(''), weight: 20 }, { arbitrary: wrong, weight: 1 });
  return fc.oneof(
    { arbitrary: fc.oneof(first, ...rest), weight: 20 },
    { arbitrary: fc.constant(''), weight: 10 },
    { arbitrary: wrong, weight: 1 },
  );
}

const fromRoot = chains([ROOT]).map((chain) => `$${chain}`);
const fromDot = fc.oneof(
  fc.constant('.'),
  fc.constantFrom(...NAMES).map((name) => `.${name}`),
  chains([ROOT]).map((chain) => chain || '.'),
);
const fromVariable = fc.oneof(
  fc.constant('$v'),
  fc.constantFrom(...NAMES).map((name) => `$v.${name}`),
);
const reads = fc.oneof(
  { arbitrary: fromRoot, weight: 3 },
  { arbitrary: fromDot, weight: 3 },
  { arbitrary: fromVariable, weight: 1 },
);

const calls = fc.oneof(
  fc.tuple(fc.constantFrom('and', 'or', 'default'), reads, reads, fc.constantFrom('', ...NAMES)).map(([name, a, b, field]) => {
    const call = `(${name} ${a} ${b})`;
    return field ? `${call}.${field}` : call;
  }),
  fc.tuple(reads, fc.constantFrom(...NAMES)).map(([value, key]) => `(index ${value} "${key}")`),
  fc.tuple(reads, fc.constantFrom(...NAMES)).map(([value, field]) => `(index ${value} 0).${field}`),
);

/** Bodies that run in full on the full data: no else, no jump, and `$v` keeps the shape it is given first. */
function bodies(values: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const { body } = fc.letrec<{ body: string; node: string }>((tie) => ({
    body: fc.array(tie('node'), { maxLength: 3 }).map((nodes) => nodes.join('')),
    node: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      values.map((value) => `{{ ${value} }}`),
      fc.tuple(values, tie('body')).map(([value, inner]) => `{{ if ${value} }}${inner}{{ end }}`),
      fc.tuple(values, tie('body')).map(([value, inner]) => `{{ with ${value} }}${inner}{{ end }}`),
      fc.tuple(values, tie('body')).map(([value, inner]) => `{{ with $v := ${value} }}${inner}{{ end }}`),
      fc.tuple(values, tie('body')).map(([value, inner]) => `{{ range ${value} }}${inner}{{ end }}`),
      fc.tuple(values, tie('body')).map(([value, inner]) => `{{ range $i, $v := ${value} }}${inner}{{ $i }}{{ end }}`),
      fc
        .tuple(values, tie('body'))
        .map(([value, inner]) => `{{ range $v := ${value} }}{{ break }}${inner}{{ else }}${inner}{{ end }}`),
    ),
  }));
  return body.map((text) => `{{ $v := .issue }}${text}`);
}

const isUnknown = (message: string | undefined) => /unknown (field|variable)|not in the element|no entry/.test(message ?? '');

/** The full data with every number so large that also ranges over what a range counts run. */
const COUNTING = Object.fromEntries(Object.entries(FULL).map(([name, value]) => [name, withNumbers(value, 6)]));

function withNumbers(value: TemplateValue, number: number): TemplateValue {
  if (typeof value === 'number') return number;
  if (isList(value)) return value.map((item) => withNumbers(item, number));
  return isMap(value)
    ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withNumbers(item, number)]))
    : value;
}

describe('the analyser against the renderer', () => {
  it('reports nothing: rendering finds no unknown field', () => {
    fc.assert(
      fc.property(bodies(fc.oneof(reads, calls)), (source) => {
        if (analyseTemplate(parseTemplate(source)).length > 0) return;
        expect(isUnknown(failureOf(source)), failureOf(source)).toBe(false);
      }),
      { numRuns: 700, seed: SEED },
    );
  });

  it('reports no error: rendering finds no unknown field, where no value mixes shapes', () => {
    fc.assert(
      fc.property(bodies(reads), (source) => {
        const problems = analyseTemplate(parseTemplate(source));
        if (problems.some(({ severity, check }) => severity === 'error' || check === 'template.unknown_field')) return;
        expect(isUnknown(failureOf(source)), failureOf(source)).toBe(false);
      }),
      { numRuns: 700, seed: SEED },
    );
  });

  it('reports an error: rendering fails, where every line runs', () => {
    const straight = bodies(reads).filter((source) => !source.includes('break'));
    fc.assert(
      fc.property(straight, (source) => {
        const errors = analyseTemplate(parseTemplate(source)).filter(({ severity }) => severity === 'error');
        if (errors.length > 0) expect(failureOf(source, COUNTING), `${source}\n${errors[0]?.message}`).toBeDefined();
      }),
      { numRuns: 700, seed: SEED },
    );
  });

  it('reports an error of a call: rendering fails whatever the data are', () => {
    const values = fc.oneof(
      fromRoot,
      fc.constantFrom('1', '-2.5', '"a"', 'true', 'nil', '(default 3 .issue.priority)', '"%d"', '"%s"'),
    );
    // The operands of and, or are judged even where they are not evaluated.
    const names = [...FUNCTIONS].flatMap(([name, { stopsAt }]) => (stopsAt === undefined ? [name] : []));
    const sources = fc
      .tuple(fc.constantFrom(...names), fc.array(values, { minLength: 1, maxLength: 3 }))
      .map(([name, args]) => `{{ ${name} ${args.join(' ')} }}`);
    fc.assert(
      fc.property(sources, (source) => {
        const errors = errorsOf(source);
        for (const data of errors ? [FULL, BARE, COUNTING] : [])
          expect(failureOf(source, data), `${source}\n${errors}`).toBeDefined();
      }),
      { numRuns: 2000, seed: SEED },
    );
  });
});

/** Undefined without one; so are calls with too few or too many arguments, which are found before. */
function errorsOf(source: string): string | undefined {
  try {
    return analyseTemplate(parseTemplate(source)).find(({ severity }) => severity === 'error')?.message;
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}
