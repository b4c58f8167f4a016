import { expect, it } from 'vitest';
import { findLiquidTags } from './liquid.ts';
import { parseTemplate } from './parse.ts';

const FORMS: readonly (readonly [liquid: string, go: string])[] = [
  ['{% if issue.description %}', '{{ if .issue.description }}'],
  ['{%- if attempt > 0 -%}', '{{ if gt .attempt 0 }}'],
  ["{% elsif issue.state == 'todo' %}", '{{ else if eq .issue.state "todo" }}'],
  ['{% unless issue.labels %}', '{{ if not (.issue.labels) }}'],
  ['{% if a and b != 1 %}', '{{ if and (.a) (ne .b 1) }}'],
  ['{% else %}', '{{ else }}'],
  ['{% endif %}', '{{ end }}'],
  ['{% for c in issue.comments %}', '{{ range .issue.comments }}, and {{ .field }} for {{ c.field }}'],
  ['{% endfor %}', '{{ end }}'],
  ['{% assign name = issue.title | upcase %}', '{{ $name := .issue.title | upper }}'],
];

it.each(FORMS)('%s becomes %s', (liquid, go) => {
  const [tag] = findLiquidTags(`One line\n  ${liquid}`, 5);
  expect(tag).toMatchObject({ line: 6, column: 3 });
  expect(tag?.message).toBe(`${liquid} is a Liquid tag and would reach the agent as it stands; write ${go}`);
});

it('says so where there is no counterpart, and leaves the language of the prompt alone', () => {
  expect(findLiquidTags('{% render "x" %}', 1)[0]?.message).toContain('this language has no such tag');
  expect(findLiquidTags('{{ if .issue.title }}100 % {{ end }} {%}', 1)).toEqual([]);
});

it('gives forms that can be read', () => {
  const text =
    '{{ if and (.issue.title) (ne .attempt 1) }}{{ else if eq .issue.state "todo" }}{{ end }}{{ $n := .issue.title | upper }}';
  expect(() => parseTemplate(text, { firstLine: 1 })).not.toThrow();
});

it('a tag called like something that every object has is none of the language', () => {
  expect(findLiquidTags('{% constructor x %}', 1)[0]?.message).toContain('this language has no such tag');
});
