import { describe, expect, it } from 'vitest';
import { FUNCTIONS } from './functions.ts';
import { parseTemplate } from './parse.ts';
import { renderTemplate } from './render.ts';
import type { TemplateData } from './variables.ts';

const DATA: TemplateData = {
  labels: ['bug', 'ui'],
  numbers: [1, 2.5],
  holes: [null, 'a'],
  none: [],
  nothing: null,
  text: ' Ünïcode ',
  map: { b: [1, null, 'x'], a: { y: true, 'k"': '<&>' } },
};

function render(source: string): string {
  return renderTemplate(parseTemplate(source), DATA);
}

describe('the function table', () => {
  it('holds exactly the documented functions', () => {
    const names = 'eq ne lt le gt ge and or not len index print printf join lower upper trim default toJSON'.split(' ');
    expect([...FUNCTIONS.keys()]).toEqual(names);
  });
});

describe('functions beyond those of Go', () => {
  it.each([
    ['join sep list', '{{ join ", " .labels }}', 'bug, ui'],
    ['join list sep', '{{ join .labels ", " }}', 'bug, ui'],
    ['piped join', '{{ .labels | join ", " }}', 'bug, ui'],
    ['join an empty list', '{{ join ", " .none }}', ''],
    ['join numbers', '{{ join "-" .numbers }}', '1-2.5'],
    ['join prints nil as nothing', '{{ join "," .holes }}', ',a'],
    ['lower', '{{ lower "ÄBC" }}', 'äbc'],
    ['upper', '{{ "äbc" | upper }}', 'ÄBC'],
    ['upper without a capital', '{{ upper "straße ŉ" }}', 'STRAßE ŉ'],
    ['lower at the end of a word', '{{ lower "ΑΣ İ" }}', 'ασ i'],
    ['trim', '[{{ trim .text }}]', '[Ünïcode]'],
    ['default for nil', '{{ .nothing | default "y" }}', 'y'],
    ['default for the empty string', '{{ "" | default "y" }}', 'y'],
    ['default for zero', '{{ default 5 0 }}', '5'],
    ['default for an empty list', '{{ .none | default "none" }}', 'none'],
    ['default keeps a value', '{{ "x" | default "y" }}', 'x'],
    ['toJSON of a map', '{{ toJSON .map }}', '{"a":{"k\\"":"<&>","y":true},"b":[1,null,"x"]}'],
    ['toJSON of a string', '{{ "a\\nb" | toJSON }}', '"a\\nb"'],
    ['toJSON of nil', '{{ toJSON .nothing }}', 'null'],
    ['toJSON of a list', '{{ toJSON .labels }}', '["bug","ui"]'],
    ['print of nil', '[{{ print .nothing }}]', '[]'],
    ['numbers compare by value', '{{ eq 1 1.0 }} {{ lt 1 1.5 }}', 'true true'],
  ])('%s', (_, source, expected) => {
    expect(render(source)).toBe(expected);
  });
});

describe('wrong arguments', () => {
  it.each([
    ['eq kinds', '{{ eq 1 "1" }}', 'eq: a number cannot be compared with a string'],
    ['eq list', '{{ eq .labels .labels }}', 'eq: a list cannot be compared'],
    ['eq map', '{{ eq 1 .map }}', 'eq: a number cannot be compared with a map'],
    ['ne kinds', '{{ ne true "true" }}', 'ne: a bool cannot be compared with a string'],
    ['lt nil', '{{ lt .nothing 1 }}', 'lt: nil has no order; guard it with {{ if }}'],
    ['lt bool', '{{ lt true false }}', 'lt: a bool has no order'],
    ['ge kinds', '{{ ge 1 "a" }}', 'ge: a number cannot be compared with a string'],
    ['len nil', '{{ len .nothing }}', 'len: nil has no length; guard it with {{ if }}'],
    ['len number', '{{ len 3 }}', 'len: a number has no length'],
    ['index nil', '{{ index .nothing 1 }}', 'index: nil cannot be indexed; guard it with {{ if }}'],
    ['index out of range', '{{ index .labels 2 }}', 'index: index 2 is out of range: the list has length 2'],
    ['index negative', '{{ index .labels -1 }}', 'index: index -1 is out of range: the list has length 2'],
    ['index by a fraction', '{{ index .labels 0.5 }}', 'index: a list is indexed by a whole number, got number'],
    ['index list by a string', '{{ index .labels "length" }}', 'index: a list is indexed by a whole number, got string'],
    ['index map by a number', '{{ index .map 1 }}', 'index: a map is indexed by a string, got number'],
    ['index of a missing entry', '{{ index .map "c" }}', 'index: the map has no entry "c"'],
    ['index of a prototype member', '{{ index .map "constructor" }}', 'index: the map has no entry "constructor"'],
    ['index number', '{{ index 1 1 }}', 'index: a number cannot be indexed'],
    ['index string out of range', '{{ index "é" 2 }}', 'index: index 2 is out of range: the string has length 2'],
    ['join without a list', '{{ join "a" "b" }}', 'join: wants a separator and a list, got string and string'],
    ['join with a number', '{{ join 1 .labels }}', 'join: wants a separator and a list, got number and list'],
    ['join nil', '{{ join "," .nothing }}', 'join: wants a separator and a list, got string and nil'],
    ['lower number', '{{ lower 1 }}', 'lower: wants a string, got number'],
    ['upper nil', '{{ upper .nothing }}', 'upper: wants a string, got nil'],
    ['trim list', '{{ trim .labels }}', 'trim: wants a string, got list'],
    ['printf format', '{{ printf 1 }}', 'printf: wants a string, got number'],
  ])('%s', (_, source, message) => {
    expect(() => render(`a\n${source}`)).toThrow(`template: line 2, column 4: ${message}`);
  });
});
