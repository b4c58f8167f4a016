import { describe, expect, it } from 'vitest';
import { analyseTemplate } from './analyse.ts';
import { parseTemplate } from './parse.ts';

/** Each problem as `severity check column: message`. */
function analyse(source: string): string[] {
  return analyseTemplate(parseTemplate(source)).map(
    ({ severity, check, column, message }) => `${severity} ${check.replace('template.', '')} ${column}: ${message}`,
  );
}

describe('analyseTemplate finds', () => {
  it.each([
    ['an unknown variable', '{{ .isue }}', 'error unknown_variable 4: unknown variable .isue; did you mean .issue?'],
    [
      'one of $',
      '{{ range 3 }}{{ $.atempt }}{{ end }}',
      'error unknown_variable 18: unknown variable .atempt; did you mean .attempt?',
    ],
    ['one in an if', '{{ if .foo }}{{ end }}', 'error unknown_variable 7: unknown variable .foo; it has issue, attempt, run, '],
    ['a prototype member', '{{ .constructor }}', 'error unknown_variable 4: unknown variable .constructor'],
    ['a field of .issue', '{{ .issue.titel }}', 'error unknown_field 10: unknown field .titel of .issue; did you mean .title?'],
    [
      'display_identifier',
      '{{ .issue.display_identifier }}',
      'error unknown_field 10: unknown field .display_identifier of .issue; it has id, ',
    ],
    [
      'a field of .run',
      '{{ .run.turn }}',
      'error unknown_field 8: unknown field .turn of .run; it has turn_number, max_turns, is_continuation',
    ],
    [
      'a field of .ci_failure',
      '{{ if .ci_failure }}{{ .ci_failure.reff }}{{ end }}',
      'error unknown_field 35: unknown field .reff of .ci_failure; did you mean .ref?',
    ],
    [
      'a field of a string',
      '{{ .issue.title.x }}',
      'error unknown_field 16: unknown field .x: .issue.title is a string and has no fields',
    ],
    [
      'length of a list',
      '{{ .issue.labels.length }}',
      'error unknown_field 17: unknown field .length: .issue.labels is a list and has no fields',
    ],
    ['a field in a dead branch', '{{ if false }}{{ .issue.x }}{{ end }}', 'error unknown_field 24: unknown field .x of .issue'],
    ['a field in an else', '{{ if .attempt }}{{ else }}{{ .issue.x }}{{ end }}', 'error unknown_field 37: '],
    ['a field in a range else', '{{ range .issue.labels }}{{ else }}{{ .issue.x }}{{ end }}', 'error unknown_field 45: '],
    [
      'a field of what a variable holds by then',
      '{{ $x := .issue }}{{ $x = .run }}{{ $x.title }}',
      'error unknown_field 39: unknown field .title of $x; it has turn_number, ',
    ],
    [
      'a field that a variable has in one of two branches',
      '{{ $x := .issue }}{{ if .attempt }}{{ $x = .run }}{{ end }}{{ $x.title }}',
      'warning unknown_field 65: ',
    ],
    [
      'a field that a loop may take away before it comes round',
      '{{ $x := .issue }}{{ range 2 }}{{ $x.title }}{{ if . }}{{ break }}{{ end }}{{ $x = $.run }}{{ end }}',
      'warning unknown_field 37: ',
    ],
    [
      'a field that a loop may have taken away when it was left',
      '{{ $x := .issue }}{{ range 2 }}{{ $x = $.run }}{{ if . }}{{ break }}{{ end }}{{ $x = $.issue }}{{ end }}{{ $x.title }}',
      'warning unknown_field 110: ',
    ],
    ['a verb of printf', '{{ printf "%e" 1 }}', 'error printf 4: printf: unknown verb "%e"; known are %s %d '],
    ['an index in a format', '{{ 1 | printf "%[1]d" }}', 'error printf 8: printf: unknown verb "%["; known are '],
    ['a star in a format', '{{ printf "%*d" 1 2 }}', 'error printf 4: printf: unknown verb "%*"; known are '],
    ['too few arguments', '{{ .issue.title | printf "%s %s" }}', 'error printf 19: printf: %s has no argument'],
    ['too many arguments', '{{ printf "%s" 1 2 }}', 'error printf 4: printf: the format takes 1 arguments, got 2'],
    ['a field of an argument', '{{ print (upper .issue.titel) }}', 'error unknown_field 23: '],
    ['a field of a piped value', '{{ .issue.titel | upper }}', 'error unknown_field 10: '],
    [
      'an element of .review_comments',
      '{{ range .review_comments }}{{ .line }}{{ end }}',
      'error unknown_field 32: unknown field .line of .; ',
    ],
    [
      'an element by variable',
      '{{ range $i, $c := .bot_review_comments }}{{ $c.fil }}{{ end }}',
      'error unknown_field 48: unknown field .fil of $c; did you mean .file?',
    ],
    [
      'the index of a range',
      '{{ range $i, $c := .issue.comments }}{{ $i.body }}{{ end }}',
      'error unknown_field 43: unknown field .body: $i is a number',
    ],
    [
      'a check run',
      '{{ with .ci_failure }}{{ range .check_runs }}{{ .url }}{{ end }}{{ end }}',
      'error unknown_field 49: unknown field .url of .; ',
    ],
    ['a blocker', '{{ range .issue.blocked_by }}{{ .title }}{{ end }}', 'error unknown_field 33: '],
    [
      'a with',
      '{{ with .issue }}{{ .titel }}{{ end }}',
      'error unknown_field 21: unknown field .titel of .; did you mean .title?',
    ],
    [
      'a variable',
      '{{ $i := .issue }}{{ $i.titel }}',
      'error unknown_field 24: unknown field .titel of $i; did you mean .title?',
    ],
    ['a variable of an if', '{{ if $p := .issue.parent }}{{ $p.title }}{{ end }}', 'error unknown_field 34: '],
    ['the result of or', '{{ (or .ci_failure .issue.parent).nope }}', 'error unknown_field 34: '],
    ['the result of default', '{{ (.ci_failure | default .issue).nope }}', 'error unknown_field 34: '],
    [
      'the result of index',
      '{{ if .issue.comments }}{{ (index .issue.comments 0).text }}{{ end }}',
      'error unknown_field 53: unknown field .text of (…)',
    ],
    [
      'the result of a text function',
      '{{ (print .issue).title }}',
      'error unknown_field 18: unknown field .title: (…) is a string',
    ],
    [
      'a key of index',
      '{{ index .issue "titel" }}',
      'error unknown_field 17: the map has no entry "titel"; did you mean .title?',
    ],
    ['a key of the root', '{{ index . "isue" }}', 'error unknown_variable 12: the map has no entry "isue"; did you mean .issue?'],
    ['a piped key', '{{ "titel" | index .issue }}', 'error unknown_field 4: the map has no entry "titel"'],
    [
      'a variable of the top in a range',
      '{{ range .issue.labels }}{{ .issue.title }}{{ end }}',
      'error dot_context 29: .issue is not in the element that . stands for here; write $.issue.title',
    ],
    [
      'one in a with',
      '{{ with .issue }}{{ .attempt }}{{ end }}',
      'error dot_context 21: .attempt is not in the element that . stands for here; write $.attempt',
    ],
    ['one in a range over a number', '{{ range 3 }}{{ .issue.id }}{{ end }}', 'error dot_context 17: '],
    ['one in an inner if', '{{ range .issue.comments }}{{ if .issue.title }}{{ end }}{{ end }}', 'error dot_context 34: '],
    ['a range over a string', '{{ range .issue.title }}{{ end }}', 'error range 10: range cannot go over a string'],
    [
      'two variables over a number',
      '{{ range $a, $b := .attempt }}{{ end }}',
      'error range 10: range cannot go over a number with two variables',
    ],
    [
      'a field that only some values have',
      '{{ $x := .issue }}{{ if .attempt }}{{ $x = .run }}{{ end }}{{ $x.title }}',
      'warning unknown_field 65: unknown field .title of $x, which $x has only sometimes',
    ],
    [
      'a variable that a loop changes later',
      '{{ $x := .issue }}{{ range 2 }}{{ $x.title }}{{ $x = $.run }}{{ end }}',
      'warning unknown_field 37: ',
    ],
    [
      'an unguarded nil',
      '{{ .ci_failure.ref }}',
      'warning nil_field 15: .ci_failure may be nil, and then this fails; guard it with {{ if .ci_failure }}',
    ],
    ['an unguarded nil in a condition', '{{ if .merge_conflict.base }}{{ end }}', 'warning nil_field 22: '],
    ['an unguarded parent', '{{ .issue.parent.identifier }}', 'warning nil_field 17: .issue.parent may be nil'],
    [
      'a nil that another guard does not cover',
      '{{ if .ci_failure }}{{ .merge_conflict.base }}{{ end }}',
      'warning nil_field 39: ',
    ],
    [
      'an order of what may be nil',
      '{{ if lt .issue.priority 3 }}{{ end }}',
      'warning nil_field 10: .issue.priority may be nil, and then this fails; guard it with {{ if .issue.priority }}',
    ],
    ['one that is piped', '{{ if .issue.priority | gt 3 }}{{ end }}', 'warning nil_field 7: .issue.priority may be nil'],
    ['one in a variable', '{{ $p := .issue.priority }}{{ lt $p 3 }}', 'warning nil_field 34: $p may be nil'],
    ['one of index', '{{ lt (index .issue "priority") 3 }}', 'warning nil_field 8: what is given here may be nil'],
    [
      'one that another guard does not cover',
      '{{ if .issue.parent }}{{ lt .issue.priority 3 }}{{ end }}',
      'warning nil_field 29: ',
    ],
    ['a length of what may be nil', '{{ len .review_comments }}', 'warning nil_field 8: .review_comments may be nil'],
    ['a list that may be nil', '{{ join ", " .issue.blocked_by }}', 'warning nil_field 14: .issue.blocked_by may be nil'],
    ['a number that may be nil', '{{ printf "%d" .issue.priority }}', 'warning nil_field 16: .issue.priority may be nil'],
    [
      'a text that may be nil',
      '{{ range .review_comments }}{{ printf "%d" .start_line }}{{ end }}',
      'warning nil_field 44: .start_line may be nil',
    ],
    [
      'an element of a list that may be empty',
      '{{ index .issue.labels 0 }}',
      'warning nil_field 10: .issue.labels may be empty, and then this fails; guard it with {{ if .issue.labels }}',
    ],
    [
      'an element of one that may be nil',
      '{{ index .issue.blocked_by 0 }}',
      'warning nil_field 10: .issue.blocked_by may be nil',
    ],
    [
      'an element of an element',
      '{{ (index .issue "comments" 0).body }}',
      'warning nil_field 18: what is given here may be empty, and then this fails; guard it with {{ if }}',
    ],
    ['a length of a number', '{{ len .attempt }}', 'error argument 4: len: a number has no length'],
    ['a number for a text', '{{ lower 5 }}', 'error argument 4: lower: wants a string, got number'],
    ['a number or nil for a text', '{{ trim .issue.priority }}', 'error argument 4: trim: wants a string, got number'],
    ['an order of two kinds', '{{ ge 1 "a" }}', 'error argument 4: ge: a number cannot be compared with a string'],
    ['an order of truths', '{{ lt true .run.is_continuation }}', 'error argument 4: lt: a bool has no order'],
    ['an order of nil', '{{ lt nil 3 }}', 'error argument 4: lt: nil has no order'],
    [
      'two kinds that are compared',
      '{{ eq .issue.title .issue.labels }}',
      'error argument 4: eq: a string cannot be compared with a list',
    ],
    [
      'no list to join',
      '{{ .issue.title | join ", " }}',
      'error argument 19: join: wants a separator and a list, got string and string',
    ],
    ['a verb for another kind', '{{ printf "%d" .issue.title }}', 'error printf 4: printf: "%d" cannot print string'],
    [
      'a verb for another literal',
      '{{ printf "%s %d" .issue.title 1.5 }}',
      'error printf 4: printf: "%s %d" cannot print string, number',
    ],
    [
      'a list by a name',
      '{{ index .issue.labels "a" }}',
      'error argument 24: index: a list is indexed by a whole number from 0, got string',
    ],
    [
      'a list by what is no place',
      '{{ index .issue.labels -1 }}',
      'error argument 24: index: a list is indexed by a whole number from 0, got -1',
    ],
    ['a map by a number', '{{ index .issue 0 }}', 'error argument 17: index: a map is indexed by a string, got 0'],
    ['what has no elements', '{{ index .attempt 0 }}', 'error argument 19: index: a number cannot be indexed'],
  ])('%s', (_, source, expected) => {
    const found = analyse(source);
    expect(found).toEqual([expect.stringContaining(expected)]);
  });

  it('every problem, in order, with the line of the file', () => {
    const template = parseTemplate('{{ .a }}\n{{ .issue.b }}\n{{ range .issue.labels }}{{ .run }}{{ end }}', { firstLine: 10 });
    expect(analyseTemplate(template).map(({ line, column, check }) => [line, column, check])).toEqual([
      [10, 4, 'template.unknown_variable'],
      [11, 10, 'template.unknown_field'],
      [12, 29, 'template.dot_context'],
    ]);
  });

  it('at most 100 problems', () => {
    expect(analyse('{{ .x }}'.repeat(1000))).toHaveLength(100);
  });
});

describe('analyseTemplate accepts', () => {
  it.each([
    '',
    'text',
    '{{ .issue.title }} {{ .attempt }} {{ .run.is_continuation }}',
    '{{ $.issue.title }}',
    '{{ range .issue.labels }}{{ . }} {{ $.issue.title }}{{ end }}',
    '{{ range .issue.comments }}{{ .author }}: {{ .body }} {{ .created_at }}{{ end }}',
    '{{ range $i, $c := .issue.comments }}{{ $i }} {{ $c.author }}{{ else }}{{ .issue.title }}{{ end }}',
    '{{ range .issue.blocked_by }}{{ .identifier }} {{ .state }} {{ .display_id }}{{ end }}',
    '{{ with .issue }}{{ .title }}{{ with .parent }}{{ .identifier }}{{ end }}{{ else }}{{ .attempt }}{{ end }}',
    '{{ if .ci_failure }}{{ .ci_failure.ref }}{{ range .ci_failure.check_runs }}{{ .details_url }}{{ end }}{{ end }}',
    '{{ if and .ci_failure .ci_failure.ref }}{{ .ci_failure.log_excerpt }}{{ end }}',
    '{{ if not .ci_failure }}-{{ else }}{{ .ci_failure.status }}{{ end }}',
    '{{ if ne .ci_failure nil }}{{ .ci_failure.status }}{{ end }}',
    '{{ if eq .ci_failure nil }}-{{ else if .ci_failure.ref }}{{ .ci_failure.ref }}{{ end }}',
    '{{ $c := .ci_failure }}{{ if $c }}{{ $c.ref }} {{ .ci_failure.ref }}{{ end }}',
    '{{ $has := ne .ci_failure nil }}{{ if $has }}{{ .ci_failure.ref }}{{ end }}',
    '{{ with $c := .ci_failure }}{{ $c.ref }}{{ .ref }}{{ end }}',
    '{{ with .ci_failure }}{{ .ref }}{{ else with .merge_conflict }}{{ .base }}{{ else with .label_command }}{{ .actor }}{{ end }}',
    '{{ range (or .review_comments .bot_review_comments) }}{{ .file }}:{{ .start_line }} {{ .reviewer }}{{ end }}',
    '{{ (or .issue .run).title }}',
    '{{ (and .issue .run).max_turns }}',
    '{{ if .issue.comments }}{{ (index .issue.comments 0).body }}{{ (index .issue "comments" 0).body }}{{ end }}',
    '{{ index .issue "title" }} {{ index . "issue" "parent" }}',
    '{{ if .issue.priority }}{{ if lt .issue.priority 3 }}!{{ end }}{{ end }}',
    '{{ if and .issue.priority (lt .issue.priority 3) }}!{{ end }}',
    '{{ if not .issue.priority }}-{{ else if le .issue.priority 2 }}!{{ end }}',
    '{{ if ne .issue.priority nil }}{{ printf "%d" .issue.priority }}{{ end }}',
    '{{ with .issue.priority }}{{ if lt . 3 }}!{{ end }}{{ end }}',
    '{{ with $p := .issue.priority }}{{ if lt $p 3 }}!{{ end }}{{ end }}',
    '{{ $p := .issue.priority }}{{ if $p }}{{ lt $p 3 }}{{ end }}',
    '{{ if lt (default 9 .issue.priority) 3 }}!{{ end }}',
    '{{ if eq .issue.priority 1 }}!{{ end }}{{ if ne .issue.parent nil }}!{{ end }}',
    '{{ if eq .run.turn_number 5 "a" }}!{{ end }}{{ if eq .issue.title "a" 5 }}!{{ end }}',
    '{{ if gt (len .issue.labels) 0 }}{{ index .issue.labels 0 }}{{ end }}',
    '{{ $n := len .issue.labels }}{{ if $n }}{{ index .issue.labels 0 }}{{ end }}',
    '{{ range $i, $l := .issue.labels }}{{ index $.issue.labels $i }} of {{ len $.issue.labels }}{{ end }}',
    '{{ range .review_comments }}{{ len $.review_comments }}{{ end }}',
    '{{ $x := .issue.title }}{{ if .attempt }}{{ $x = .attempt }}{{ end }}{{ lower (print $x) }}{{ eq $x "a" }}',
    '{{ range $k, $v := .run }}{{ if eq $k "turn_number" }}{{ printf "%d" $v }}{{ end }}{{ end }}',
    '{{ printf "%v %s %q" .issue.priority .issue.parent .issue.title }} {{ printf "%d" .issue.labels }}',
    '{{ printf .issue.title 1 }} {{ printf "%c %x %5.1f" .attempt .issue.title .attempt }}',
    '{{ print .issue.priority .issue.parent }} {{ toJSON .issue.parent }} {{ not .issue.parent }}',
    '{{ range $k, $v := .run }}{{ $k }}={{ $v }}{{ end }}',
    '{{ range $k, $v := . }}{{ $k }}{{ end }}',
    '{{ $key := "title" }}{{ index .issue $key }}',
    '{{ $x := "" }}{{ range .issue.labels }}{{ $x = print $x . }}{{ end }}{{ $x }}',
    '{{ $x := .issue }}{{ range 3 }}{{ $x.title }}{{ end }}',
    '{{ $x := .issue }}{{ $x.title }}{{ $x = .run }}{{ $x.max_turns }}',
    '{{ $x := .issue }}{{ if .attempt }}{{ $x = .run }}{{ $x.max_turns }}{{ else }}{{ $x.title }}{{ end }}',
    '{{ $x := .issue }}{{ if .attempt }}{{ $x = .run }}{{ else }}{{ $x = .run }}{{ end }}{{ $x.max_turns }}',
    '{{ $x := .issue }}{{ range 3 }}{{ $x = $.run }}{{ $x.max_turns }}{{ end }}',
    '{{ range 3 }}{{ if eq . 1 }}{{ continue }}{{ end }}{{ . }}{{ end }}',
    '{{ .issue.priority | default 3 }} {{ if .issue.priority }}{{ printf "%d" .issue.priority }}{{ end }}',
    '{{ .issue.labels | join ", " | upper }} {{ toJSON . }} {{ len .issue.comments }}',
    '{{ (.issue).title }} {{ ((.issue)).title }}',
    '{{ with $ }}{{ .issue.title }}{{ end }}',
    '{{ with "" }}{{ . }}{{ end }}',
  ])('%s', (source) => {
    expect(analyse(source)).toEqual([]);
  });

  it('a variable that settles only after several passes', () => {
    const source =
      '{{ $a := .issue }}{{ $b := .issue }}{{ $c := .issue }}{{ range 9 }}{{ $a = $b }}{{ $b = $c }}{{ $c = $.run }}{{ end }}{{ $a.title }}';
    expect(analyse(source)).toEqual([expect.stringContaining('warning unknown_field')]);
  });

  it('a chain too long to settle, with warnings only and in bounded time', () => {
    const names = Array.from({ length: 300 }, (_, index) => `$v${index}`);
    const declarations = names.map((name) => `{{ ${name} := .issue }}`).join('');
    const shifts = names
      .slice(1)
      .map((name, index) => `{{ $v${index} = ${name} }}`)
      .join('');
    const problems = analyse(`${declarations}{{ range 9 }}${shifts}{{ $v299 = $.run }}{{ end }}{{ $v0.nope }}`);
    expect(problems).toEqual([expect.stringContaining('warning unknown_field')]);
  });
});
