import { describe, expect, it } from 'vitest';
import { BARE_SUBJECT, FULL_SUBJECT } from '../../test/support/prompt-subject.ts';
import { TemplateError } from '../domain/model/errors.ts';
import { parseTemplate } from './parse.ts';
import { renderTemplate } from './render.ts';
import { templateData, type TemplateData } from './variables.ts';

const FULL = templateData(FULL_SUBJECT);
const BARE = templateData(BARE_SUBJECT);

function render(source: string, data: TemplateData = FULL): string {
  return renderTemplate(parseTemplate(source), data);
}

describe('renderTemplate', () => {
  it('renders a whole prompt', () => {
    const source = [
      'Work on {{ .issue.identifier }}: {{ .issue.title }}',
      '{{- if .issue.description }}',
      '',
      '{{ .issue.description }}',
      '{{- end }}',
      '{{- with .issue.labels }}',
      'Labels: {{ join ", " . }}',
      '{{- end }}',
      '{{- range $i, $c := .issue.comments }}',
      '{{ $i }}. {{ $c.author }}: {{ .body }}',
      '{{- else }}',
      'No comments.',
      '{{- end }}',
      '{{- if and .ci_failure (gt .ci_failure.failing_count 0) }}',
      'CI: {{ range .ci_failure.check_runs }}{{ .name }}={{ .conclusion }}{{ end }}',
      '{{- end }}',
      '{{- if gt .attempt 0 }}',
      'Attempt {{ .attempt }} for {{ $.issue.identifier }}.',
      '{{- end }}',
    ].join('\n');
    expect(render(source)).toBe(
      'Work on ABC-7: Crash on empty input\n\nIt stops.\nEvery time.\nLabels: bug, urgent\n0. ann: Seen it.\n1. bob: Me too.\nCI: unit=failure\nAttempt 1 for ABC-7.',
    );
    expect(render(source, BARE)).toBe('Work on ABC-7: Crash on empty input\nNo comments.');
  });

  it('never reads text of the tracker as a template', () => {
    const issue = { ...FULL_SUBJECT.issue, title: '{{ .nope }}', description: '{{ range 3 }}x{{ end }}' };
    const data = templateData({ ...FULL_SUBJECT, issue });
    expect(render('{{ .issue.title }} {{ printf "%s" .issue.description }}', data)).toBe('{{ .nope }} {{ range 3 }}x{{ end }}');
  });

  it('can be rendered again and leaves no trace in the template', () => {
    const template = parseTemplate('{{ $n := 0 }}{{ range .issue.labels }}{{ $n = print $n . }}{{ end }}{{ $n }}');
    expect([FULL, BARE, FULL].map((data) => renderTemplate(template, data))).toEqual(['0bugurgent', '0', '0bugurgent']);
  });
});

describe('strictness', () => {
  it.each([
    ['unknown variable', '{{ .isue }}', 4, 'unknown variable .isue; did you mean .issue?'],
    ['unknown variable of $', '{{ $.isue.title }}', 5, 'unknown variable .isue; did you mean .issue?'],
    ['unknown field', '{{ .issue.titel }}', 10, 'unknown field .titel of .issue; did you mean .title?'],
    ['camel case', '{{ .issue.branchName }}', 10, 'unknown field .branchName of .issue; did you mean .branch_name?'],
    ['nothing near', '{{ .run.x }}', 8, 'unknown field .x of .run; it has turn_number, max_turns, is_continuation'],
    ['field of a string', '{{ .issue.title.x }}', 16, 'unknown field .x: .issue.title is a string and has no fields'],
    ['field of a list', '{{ .issue.labels.length }}', 17, 'unknown field .length: .issue.labels is a list and has no fields'],
    ['field of a number', '{{ .attempt.x }}', 12, 'unknown field .x: .attempt is a number and has no fields'],
    [
      'element',
      '{{ range .issue.comments }}{{ .text }}{{ end }}',
      31,
      'unknown field .text of .; it has id, author, body, created_at',
    ],
    ['variable', '{{ $c := .issue }}{{ $c.titel }}', 24, 'unknown field .titel of $c; did you mean .title?'],
    ['parentheses', '{{ (index .issue.comments 0).x }}', 29, 'unknown field .x of (…); it has id, author, body, created_at'],
    [
      'root in a range',
      '{{ range .issue.labels }}{{ .issue.title }}{{ end }}',
      29,
      '.issue is not in the element that . stands for here; write $.issue.title',
    ],
    ['__proto__', '{{ .issue.__proto__ }}', 10, 'unknown field .__proto__ of .issue'],
    ['constructor', '{{ .constructor }}', 4, 'unknown variable .constructor'],
    ['constructor of a string', '{{ .issue.title.constructor }}', 16, 'unknown field .constructor'],
    ['hasOwnProperty', '{{ .issue.hasOwnProperty }}', 10, 'unknown field .hasOwnProperty of .issue'],
    ['range over a string', '{{ range .issue.title }}{{ end }}', 10, 'range cannot go over a string'],
    ['range over a fraction', '{{ range 1.5 }}{{ end }}', 10, 'range cannot go over a number'],
    ['range over a bool', '{{ range true }}{{ end }}', 10, 'range cannot go over a bool'],
    [
      'range over an integer with two variables',
      '{{ range $a, $b := 3 }}{{ end }}',
      10,
      'range cannot go over a number with two variables',
    ],
    ['wrong kind for a function', '{{ "x" | len | lower }}', 16, 'lower: wants a string, got number'],
  ])('%s', (_, source, column, detail) => {
    expect(() => render(source)).toThrow(`template: line 1, column ${column}: ${detail}`);
  });

  it('names the line of the file', () => {
    const template = parseTemplate('a\nb {{ .issue.titel }}', { firstLine: 20 });
    expect(() => renderTemplate(template, FULL)).toThrow('template: line 21, column 12:');
  });

  it.each([
    ['.ci_failure', '{{ .ci_failure.ref }}', 'cannot read .ref of .ci_failure: nil value; guard it with {{ if .ci_failure }}'],
    [
      '.issue.parent',
      '{{ .issue.parent.id }}',
      'cannot read .id of .issue.parent: nil value; guard it with {{ if .issue.parent }}',
    ],
    ['a variable', '{{ $p := .issue.parent }}{{ $p.id }}', 'cannot read .id of $p: nil value; guard it with {{ if $p }}'],
  ])('a field of nil %s', (_, source, detail) => {
    expect(() => render(source, BARE)).toThrow(detail);
    expect(render(source)).not.toBe('');
  });

  it.each([
    ['if', '{{ if .ci_failure }}{{ .ci_failure.ref }}{{ end }}'],
    ['with', '{{ with .ci_failure }}{{ .ref }}{{ end }}'],
    ['and', '{{ and .ci_failure .ci_failure.ref }}'],
    ['or', '{{ if or (not .ci_failure) .ci_failure.ref }}{{ end }}'],
    ['not', '{{ if not .ci_failure }}{{ else }}{{ .ci_failure.ref }}{{ end }}'],
    ['default', '{{ .ci_failure | default "" }}'],
    ['eq nil', '{{ if ne .ci_failure nil }}{{ .ci_failure.ref }}{{ end }}'],
    ['range', '{{ range .review_comments }}{{ .body }}{{ end }}'],
    ['print', '{{ .ci_failure }}{{ .issue.priority }}'],
  ])('nil guarded by %s', (_, source) => {
    expect(render(source, BARE)).toBe('');
  });
});

describe('limits', () => {
  const huge = { ...FULL, big: 'x'.repeat(1024 * 1024), list: Array.from({ length: 1000 }, () => 'y') };

  it('allows exactly 1 MiB', () => {
    expect(render('{{ .big }}', huge).length).toBe(1024 * 1024);
  });

  it.each([
    ['text', '{{ .big }}!'],
    ['bytes, not characters', '{{ range 30000 }}éééééééééééééééééééé{{ end }}'],
    ['print', '{{ len (print .big "a") }}'],
    ['printf', '{{ len (printf "%s%s" .big .big) }}'],
    ['join', '{{ len (join .big .list) }}'],
    ['toJSON', '{{ len (toJSON .big) }}'],
    ['width', '{{ printf "%2000000d" 1 }}'],
    ['doubling', '{{ $x := "ab" }}{{ range 1000 }}{{ $x = print $x $x }}{{ end }}'],
    ['a template longer than that', 'z'.repeat(1024 * 1024 + 1)],
  ])('output: %s', (_, source) => {
    expect(() => render(source, huge)).toThrow(/line 1, column \d+: output is larger than 1 MiB$/);
  });

  it.each([
    ['one range', '{{ range 100001 }}{{ end }}'],
    ['a huge number', '{{ range 9007199254740991 }}{{ end }}'],
    ['ranges inside each other', '{{ range 1000 }}{{ range 1000 }}{{ end }}{{ end }}'],
    ['ranges after each other', '{{ range 60000 }}{{ end }}{{ range 60000 }}{{ end }}'],
  ])('iterations: %s', (_, source) => {
    expect(() => render(source)).toThrow('rendering takes more than 100000 range iterations');
  });

  it('allows 100,000 iterations', () => {
    expect(render('{{ range 100000 }}{{ end }}ok')).toBe('ok');
  });

  it.each([
    ['long texts in a loop', '{{ range 100000 }}{{ if eq (len (lower $.big)) 1 }}{{ end }}{{ end }}'],
    ['a long body in a loop', `{{ range 100000 }}${'{{ $x := 1 }}'.repeat(1000)}{{ end }}`],
    ['a long pipeline in a loop', `{{ range 100000 }}{{ $x := 1 ${'| print '.repeat(1000)} }}{{ end }}`],
    ['a long condition in a loop', `{{ range 100000 }}{{ if and ${'1 '.repeat(1000)} }}{{ end }}{{ end }}`],
    ['padding in a loop', '{{ range 100000 }}{{ $x := printf "%1000000d" 1 }}{{ end }}'],
    ['JSON in a loop', '{{ range 100000 }}{{ $x := toJSON $ | printf "%q" }}{{ end }}'],
  ])('steps: %s', (_, source) => {
    const started = performance.now();
    const data = { ...FULL, big: 'x'.repeat(500_000) };
    expect(() => render(source, data)).toThrow('rendering takes more than 2000000 steps');
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('renders long chains without deep recursion', () => {
    expect(render(`{{ 1 ${'| print '.repeat(50_000)} }}`)).toBe('1');
    expect(render(`{{ if 0 }}${'{{ else if 0 }}'.repeat(20_000)}{{ else }}x{{ end }}`)).toBe('x');
    expect(() => render(`{{ ${'.issue'.repeat(50_000)} }}`)).toThrow(TemplateError);
  });
});
