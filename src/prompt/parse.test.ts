import { describe, expect, it } from 'vitest';
import { TemplateError } from '../domain/model/errors.ts';
import { parseTemplate } from './parse.ts';

/** What is thrown, or undefined. */
function messageOf(source: string, firstLine?: number): string | undefined {
  try {
    parseTemplate(source, firstLine === undefined ? {} : { firstLine });
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(TemplateError);
    return error instanceof Error ? error.message.replace(/^template: /, '') : undefined;
  }
}

/** template, message after `template: ` */
const ROWS: readonly (readonly [string, string])[] = [
  // Actions and comments
  ['{{', 'line 1, column 1: action is not closed with }}'],
  ['a {{ .x', 'line 1, column 3: action is not closed with }}'],
  ['{{ .x }', 'line 1, column 7: unexpected character "}"'],
  ['{{ }}', 'line 1, column 4: a value is missing before "}}"'],
  ['{{- -}}', 'line 1, column 5: a value is missing before "}}"'],
  ['{{/* a', 'line 1, column 1: comment is not closed with */}}'],
  ['{{/* a */ b}}', 'line 1, column 8: a comment must end with */}}'],
  ['{{ .x # }}', 'line 1, column 7: unexpected character "#"'],
  ['{{ 😀 }}', 'line 1, column 4: unexpected character "😀"'],
  ['{{ .branch-name }}', 'line 1, column 11: unexpected "-" after .branch; names are made of letters, digits and _'],
  // Operators of other languages
  ['{{ if .a == "b" }}{{ end }}', 'line 1, column 10: unexpected "=="; use the function eq'],
  ['{{ .a != .b }}', 'line 1, column 7: unexpected "!="; use the function ne'],
  ['{{ .a <= .b }}', 'line 1, column 7: unexpected "<="; use the function le'],
  ['{{ .a >= .b }}', 'line 1, column 7: unexpected ">="; use the function ge'],
  ['{{ .a < .b }}', 'line 1, column 7: unexpected "<"; use the function lt'],
  ['{{ .a > .b }}', 'line 1, column 7: unexpected ">"; use the function gt'],
  ['{{ .a && .b }}', 'line 1, column 7: unexpected "&&"; use the function and'],
  ['{{ .a || .b }}', 'line 1, column 7: unexpected "||"; use the function or'],
  ['{{ !.a }}', 'line 1, column 4: unexpected "!"; use the function not'],
  // Literals
  ['{{ "abc }}', 'line 1, column 4: string is not closed on its line'],
  ['{{ "a\nb" }}', 'line 1, column 4: string is not closed on its line'],
  ['{{ "abc\\', 'line 1, column 4: string is not closed on its line'],
  ["{{ 'a }}", 'line 1, column 4: character is not closed on its line'],
  ['{{ `abc }}', 'line 1, column 4: raw string is not closed with `'],
  [String.raw`{{ "\q" }}`, String.raw`line 1, column 4: "\"\\q\"" is no valid string`],
  [String.raw`{{ "\ud800" }}`, String.raw`line 1, column 4: "\"\\ud800\"" is no valid string`],
  [String.raw`{{ "\777" }}`, String.raw`line 1, column 4: "\"\\777\"" is no valid string`],
  ["{{ 'ab' }}", `line 1, column 4: "'ab'" is no valid character`],
  ["{{ '' }}", `line 1, column 4: "''" is no valid character`],
  ['{{ 1x }}', 'line 1, column 4: "1x" is no valid number'],
  ['{{ 089 }}', 'line 1, column 4: "089" is no valid number'],
  ['{{ 1__0 }}', 'line 1, column 4: "1__0" is no valid number'],
  ['{{ - }}', 'line 1, column 4: "-" is no valid number'],
  ['{{ 99999999999999999999 }}', 'line 1, column 4: "99999999999999999999" is no valid number'],
  ['{{ 1e999 }}', 'line 1, column 4: "1e999" is no valid number'],
  ['{{ 1.foo }}', 'line 1, column 4: "1.foo" is no valid number'],
  // Commands
  ['{{ foo }}', 'line 1, column 4: unknown function "foo"; a value starts with a dot, as in .foo'],
  ['{{ lowr .x }}', 'line 1, column 4: unknown function "lowr"; did you mean lower?'],
  ['{{ tojson .x }}', 'line 1, column 4: unknown function "tojson"; did you mean toJSON?'],
  ['{{ constructor }}', 'line 1, column 4: unknown function "constructor"; a value starts with a dot, as in .constructor'],
  ['{{ .x | html }}', 'line 1, column 9: unknown function "html"; a value starts with a dot, as in .html'],
  ['{{ print nope }}', 'line 1, column 10: unknown function "nope"; a value starts with a dot, as in .nope'],
  ['{{ nil }}', 'line 1, column 4: nil is not a command; it can only be an argument'],
  ['{{ $x := nil }}', 'line 1, column 10: nil is not a command; it can only be an argument'],
  ['{{ .x .y }}', 'line 1, column 7: unexpected ".y": ".x" is no function and takes no arguments'],
  ['{{ 1 2 }}', 'line 1, column 6: unexpected "2": "1" is no function and takes no arguments'],
  ['{{ 1 | 2 }}', 'line 1, column 8: "2" is no function and cannot take what is piped into it'],
  ['{{ 1 | .x }}', 'line 1, column 8: ".x" is no function and cannot take what is piped into it'],
  ['{{ | print }}', 'line 1, column 4: a value is missing before "|"'],
  ['{{ 1 | }}', 'line 1, column 8: a value is missing before "}}"'],
  ['{{ , }}', 'line 1, column 4: unexpected ","'],
  ['{{ print , }}', 'line 1, column 10: unexpected ",", }} was expected'],
  ['{{ print(1) }}', 'line 1, column 9: a blank is missing between print and "("'],
  ['{{ print .x(1) }}', 'line 1, column 12: unexpected "("'],
  ['{{ print "a""b" }}', String.raw`line 1, column 13: unexpected "\"b\"" after "\"a\""`],
  ['{{ "a".b }}', String.raw`line 1, column 7: unexpected ".b" after "\"a\""`],
  ['{{ ..a }}', 'line 1, column 5: unexpected ".a" after "."'],
  ['{{ ("a").b }}', 'line 1, column 9: a literal has no fields'],
  ['{{ print if }}', 'line 1, column 10: unexpected keyword if'],
  // Parentheses
  ['{{ (1 }}', 'line 1, column 7: unexpected "}}", ) was expected'],
  ['{{ 1) }}', 'line 1, column 5: unexpected ")", }} was expected'],
  ['{{ () }}', 'line 1, column 5: a value is missing before ")"'],
  ['{{ ($x := 1) }}', 'line 1, column 5: undefined variable $x'],
  // Numbers of arguments
  ['{{ len }}', 'line 1, column 4: wrong number of arguments for len: want 1, got 0'],
  ['{{ .x | len .y }}', 'line 1, column 9: wrong number of arguments for len: want 1, got 2'],
  ['{{ eq .x }}', 'line 1, column 4: wrong number of arguments for eq: want at least 2, got 1'],
  ['{{ print len }}', 'line 1, column 10: wrong number of arguments for len: want 1, got 0'],
  // Variables
  ['{{ $x }}', 'line 1, column 4: undefined variable $x'],
  ['{{ $x = 1 }}', 'line 1, column 4: undefined variable $x'],
  ['{{ $x := $x }}', 'line 1, column 10: undefined variable $x'],
  ['{{ if true }}{{ $x := 1 }}{{ end }}{{ $x }}', 'line 1, column 39: undefined variable $x'],
  ['{{ if true }}{{ $x := 1 }}{{ else }}{{ $x }}{{ end }}', 'line 1, column 40: undefined variable $x'],
  ['{{ range $x := 3 }}{{ else }}{{ $x }}{{ end }}', 'line 1, column 33: undefined variable $x'],
  ['{{ $ := 1 }}', 'line 1, column 4: $ is the whole data and cannot be set; give the variable a name'],
  ['{{ $a, $b := 1 }}', 'line 1, column 4: only {{ range }} sets two variables'],
  ['{{ if $a, $b := 1 }}{{ end }}', 'line 1, column 7: only {{ range }} sets two variables'],
  ['{{ $x.y = 1 }}', 'line 1, column 4: undefined variable $x'],
  ['{{ .x = 1 }}', 'line 1, column 7: unexpected "=", }} was expected'],
  ['{{ :x }}', 'line 1, column 4: unexpected character ":"'],
  // Blocks
  ['{{ if .x }}', 'line 1, column 4: {{ if }} has no {{ end }}'],
  ['a\n{{ range .x }}{{ if .y }}{{ end }}', 'line 2, column 4: {{ range }} has no {{ end }}'],
  ['{{ if .x }}a{{ else }}b', 'line 1, column 4: {{ if }} has no {{ end }}'],
  ['{{ end }}', 'line 1, column 1: unexpected {{ end }}: no block is open here'],
  ['{{ else }}', 'line 1, column 1: unexpected {{ else }}: no block is open here'],
  ['{{ if }}{{ end }}', 'line 1, column 7: a value is missing before "}}"'],
  ['{{ if .x }}{{ else }}{{ else }}{{ end }}', 'line 1, column 25: a second {{ else }} for one {{ if }}'],
  ['{{ if .x }}{{ else with .y }}{{ end }}', 'line 1, column 20: unexpected "with", }} was expected'],
  ['{{ range .x }}{{ else if .y }}{{ end }}', 'line 1, column 23: unexpected "if", }} was expected'],
  ['{{ if .x }}{{ end .y }}', 'line 1, column 19: unexpected ".y", }} was expected'],
  ['{{ break }}', 'line 1, column 4: {{ break }} outside of {{ range }}'],
  ['{{ range .x }}{{ else }}{{ continue }}{{ end }}', 'line 1, column 28: {{ continue }} outside of {{ range }}'],
  ['{{ range .x }}{{ break 2 }}{{ end }}', 'line 1, column 24: unexpected "2", }} was expected'],
  ['{{ template "x" }}', 'line 1, column 4: {{ template }} is not supported: a prompt is one template'],
  ['{{ define "x" }}{{ end }}', 'line 1, column 4: {{ define }} is not supported: a prompt is one template'],
  ['{{ block "x" . }}{{ end }}', 'line 1, column 4: {{ block }} is not supported: a prompt is one template'],
];

describe('parseTemplate', () => {
  it.each(ROWS)('refuses %s', (source, message) => {
    expect(messageOf(source)).toBe(message);
  });

  it('counts lines from the line of the file where the body starts', () => {
    expect(messageOf('one\ntwo {{ foo }}', 12)).toContain('line 13, column 8:');
  });

  it('counts columns in characters and lines also after carriage returns', () => {
    expect(messageOf('a\r\n😀é {{ foo }}')).toContain('line 2, column 7:');
  });

  it('accepts blanks around a comment', () => {
    expect(messageOf('{{ /* a */ }}')).toBeUndefined();
  });

  it('shortens what it quotes', () => {
    expect(messageOf(`{{ ${'x'.repeat(100_000)} }}`)?.length).toBeLessThan(200);
  });

  it.each([
    ['open parentheses', `{{ ${'('.repeat(100_000)} }}`],
    ['parentheses', `{{ ${'('.repeat(100_000)}1${')'.repeat(100_000)} }}`],
    ['ifs', '{{ if 1 }}'.repeat(20_000)],
    ['elses', '{{ if 1 }}{{ else }}'.repeat(20_000)],
    ['ranges in elses', '{{ range 1 }}{{ else }}'.repeat(20_000)],
    ['withs', '{{ with 1 }}'.repeat(20_000)],
  ])('refuses deep nesting of %s', (_, source) => {
    expect(messageOf(source)).toContain('nested more than 100 levels deep');
  });

  it.each([
    ['a chain of else if', `{{ if 0 }}${'{{ else if 0 }}'.repeat(20_000)}{{ end }}`],
    ['a chain of fields', `{{ ${'.a'.repeat(50_000)} }}`],
    ['a pipeline', `{{ 1 ${'| print '.repeat(50_000)} }}`],
    ['arguments', `{{ print ${'1 '.repeat(50_000)} }}`],
    ['variables', '{{ $x := 1 }}'.repeat(20_000)],
    ['blocks side by side', '{{ if 1 }}{{ end }}'.repeat(20_000)],
    ['blanks to trim', `${' '.repeat(500_000)}{{- 1 -}}${' '.repeat(500_000)}`],
    ['lone braces', '{ '.repeat(500_000)],
  ])('reads a long template: %s', (_, source) => {
    expect(messageOf(source)).toBeUndefined();
  });
});
