import { describe, expect, it } from 'vitest';
import { fakeContext } from '../../test/support/config/fake-kinds.ts';
import { formatProblem } from './format.ts';
import { readWorkflow } from './workflow.ts';

const GOOD = '---\ntracker: { kind: file, active_states: [a] }\nfile: { path: x }\n---\nBody\n';

function read(text: string) {
  return readWorkflow(text, '/srv/WORKFLOW.md', fakeContext());
}

describe('front matter', () => {
  it.each([
    ['a byte order mark', `\uFEFF${GOOD}`],
    ['CRLF', GOOD.replaceAll('\n', '\r\n')],
    ['blanks after the fences', GOOD.replaceAll('---', '--- \t')],
    ['no line end at the end', GOOD.trimEnd()],
  ])('tolerates %s', (_, text) => {
    const { problems, settings, body, bodyLine } = read(text);
    expect(problems).toEqual([]);
    expect(settings).not.toBeNull();
    expect({ body, bodyLine }).toEqual({ body: 'Body', bodyLine: 5 });
  });

  it('ends at the first fence: a later one belongs to the body', () => {
    expect(read(`${GOOD}\n---\nmore`).body).toBe('Body\n\n---\nmore');
  });

  const rows: readonly (readonly [title: string, text: string, lines: readonly string[]])[] = [
    [
      'an empty file',
      '',
      ['error: workflow.front_matter: the file must begin with a `---` line that opens the front matter (line 1, column 1)'],
    ],
    [
      'no front matter',
      'Just a prompt',
      ['error: workflow.front_matter: the file must begin with a `---` line that opens the front matter (line 1, column 1)'],
    ],
    [
      'no closing line',
      '---\ntracker: {}\n ---\n',
      ['error: workflow.front_matter: the closing `---` line of the front matter is missing (it opens on line 1, column 1)'],
    ],
    [
      'a list',
      '---\n\n- a\n---\nx',
      ['error: workflow.front_matter: the front matter must be a map of keys, got a list (line 3, column 1)'],
    ],
    [
      'a word',
      '---\nhello\n---\nx',
      ['error: workflow.front_matter: the front matter must be a map of keys, got a string (line 2, column 1)'],
    ],
    [
      'a duplicate key',
      '---\na: 1\nb: 2\n"a": 3\n---\nx',
      ['error: workflow.yaml: the key `a` is written twice (line 4, column 1)'],
    ],
    ['a tab', '---\na:\n\tb: 1\n---\nx', ['error: workflow.yaml: Tabs are not allowed as indentation (line 3, column 1)']],
    [
      'a nested map in one line',
      '---\na: b: c\n---\nx',
      ['error: workflow.yaml: Nested mappings are not allowed in compact mappings (line 2, column 4)'],
    ],
    [
      'an alias without an anchor',
      '---\na: 1\nb: [*x]\n---\nx',
      ['error: workflow.yaml: the alias `*x` names no anchor (line 3, column 5)'],
    ],
    [
      'an anchor within itself',
      '---\na: &a { b: *a }\n---\nx',
      ['error: workflow.yaml: the aliases of the front matter cannot be resolved: an anchor contains itself'],
    ],
    ['a key that is a list', '---\n? [a]\n: 1\n---\nx', ['error: workflow.yaml: a key must be a plain word (line 2, column 3)']],
    [
      'a second document',
      '---\na: 1\n...\nb: 1\n---\nx',
      ['error: workflow.yaml: the front matter must be one YAML document (line 4, column 1)'],
    ],
  ];

  it.each(rows)('refuses %s', (_, text, expected) => {
    const { problems, settings } = read(text);
    expect(problems.map(formatProblem)).toEqual(expected);
    expect(settings).toBeNull();
  });

  it('refuses a bomb of aliases at once', () => {
    const names = [...'abcdefghi'];
    const yaml = names.map(
      (name, index) =>
        `${name}: &${name} [${Array(9)
          .fill(index > 0 ? `*${names[index - 1]}` : 'x')
          .join(', ')}]`,
    );
    expect(read(`---\n${yaml.join('\n')}\n---\nx`).problems.map(formatProblem)).toEqual([
      'error: workflow.yaml: the aliases of the front matter cannot be resolved: Excessive alias count indicates a resource exhaustion attack',
    ]);
  });

  it('refuses what is nested too deeply, with few words', () => {
    const { problems } = read(`---\n${'['.repeat(20_000)}\n---\nx`);
    expect(problems.length).toBeLessThan(10);
    expect(problems[0]?.message).toMatch(/^the front matter is nested too deeply/);
  });

  it('warns of a tag it does not know', () => {
    const { problems, settings } = read(GOOD.replace('path: x', 'path: !env x'));
    expect(problems.map(formatProblem)).toEqual(['warning: workflow.yaml: Unresolved tag: !env (line 3, column 15)']);
    expect(settings).not.toBeNull();
  });

  it('looks at the template even when the YAML cannot be read', () => {
    const template = { severity: 'error', check: 'template', message: 'bad' } as const;
    const { problems } = readWorkflow('---\na: b: c\n---\nx', '/w', fakeContext({ checkTemplate: () => [template] }));
    expect(problems.map(({ check }) => check)).toEqual(['workflow.yaml', 'template']);
  });
});
