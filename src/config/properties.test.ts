import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { fakeContext } from '../../test/support/config/fake-kinds.ts';
import { formatProblem } from './format.ts';
import { workflowJsonSchema } from './json-schema.ts';
import type { PlainMap } from './document.ts';
import { declaredPaths } from './known-keys.ts';
import { type LoadedWorkflow, readWorkflow } from './workflow.ts';

const context = fakeContext({ env: { A: 'one' } });
const PATHS = declaredPaths(workflowJsonSchema(context.providers, context.agentKinds) as PlainMap);

function expectSound(loaded: LoadedWorkflow): void {
  const failed = loaded.problems.some(({ severity }) => severity === 'error');
  expect(loaded.settings === null).toBe(failed);
  for (const problem of loaded.problems) expect(formatProblem(problem)).toMatch(/^(error|warning): [^\s:]+: .+$/u);
}

/** A front matter with some known keys set to anything. */
const wildSettings = fc
  .array(
    fc.tuple(
      fc.constantFrom(...PATHS),
      fc.oneof(fc.jsonValue(), fc.constantFrom('file', 'gitlab', 'mock', '$A', '5', [], {}, ['a'])),
    ),
    {
      maxLength: 12,
    },
  )
  .map((entries) => {
    const root: Record<string, unknown> = {};
    for (const [path, value] of entries) place(root, path.split('.'), value);
    return root;
  });

function place(root: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [first = '', ...rest] = path;
  if (rest.length === 0) root[first] = value;
  else {
    const child = root[first];
    const map = typeof child === 'object' && child !== null && !Array.isArray(child) ? (child as Record<string, unknown>) : {};
    root[first] = map;
    place(map, rest, value);
  }
}

describe('any file', () => {
  it('of arbitrary text is judged, never thrown at', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.boolean(), (text, fenced) => {
        expectSound(readWorkflow(fenced ? `---\n${text}\n---\n${text}` : text, '/srv/W.md', context));
      }),
      { numRuns: 150 },
    );
  });

  it('of YAML-like text is judged, never thrown at', () => {
    const piece = fc.constantFrom(
      'tracker',
      'kind',
      ':',
      ' ',
      '\n',
      '  ',
      '- ',
      '&a ',
      '*a',
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      '|',
      '>',
      '#',
      '!!set ',
      '<<',
      '? ',
      '~',
      '...',
      '%',
      '\t',
      'x',
      '1',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expectSound(readWorkflow(`---\n${pieces.join('')}\n---\nx`, '/srv/W.md', context));
      }),
      { numRuns: 200 },
    );
  });

  it('of arbitrary data is judged, never thrown at', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expectSound(readWorkflow(`---\n${JSON.stringify(value)}\n---\nx`, '/srv/W.md', context));
      }),
      { numRuns: 100 },
    );
  });

  it('with known keys set to anything is judged the same way twice', () => {
    fc.assert(
      fc.property(wildSettings, (settings) => {
        const text = `---\n${stringify(settings)}\n---\nx`;
        const loaded = readWorkflow(text, '/srv/W.md', context);
        expectSound(loaded);
        const { placeOf } = loaded;
        expect({ ...readWorkflow(text, '/srv/W.md', context), placeOf }).toEqual(loaded);
      }),
      { numRuns: 100 },
    );
  });

  it('with hostile key names is judged, never thrown at', () => {
    const name = fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '');
    fc.assert(
      fc.property(
        name,
        fc.constantFrom('', 'tracker', 'agent', 'reactions', 'gitlab', 'token_rates', 'claude-code'),
        (key, section) => {
          const entry = `${JSON.stringify(key)}: { x: 1 }`;
          const yaml = section === '' ? entry : `${section}:\n  ${entry}`;
          const loaded = readWorkflow(`---\n${yaml}\n---\nx`, '/srv/W.md', context);
          expectSound(loaded);
          expect(loaded.problems.some(({ check }) => check === 'config.unknown_key' || check === 'reactions.unknown_kind')).toBe(
            true,
          );
        },
      ),
    );
  });
});
