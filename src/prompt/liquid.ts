/** A tag of the Liquid language, which means nothing here and would reach the agent as it stands. */
export interface LiquidTag {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** Enough for a person to see what happened. */
const MOST_TAGS = 20;

/** Finds Liquid tags in a prompt, each with what to write instead. */
export function findLiquidTags(body: string, firstLine: number): readonly LiquidTag[] {
  return [...body.matchAll(/\{%-?([^{}%]*)-?%\}/g)].slice(0, MOST_TAGS).map(({ 0: tag, 1: inner = '', index }) => {
    const before = body.slice(0, index);
    const lineStart = before.lastIndexOf('\n') + 1;
    return {
      message: messageFor(tag, inner.trim().replace(/-$/, '').trim()),
      line: firstLine + (before.match(/\n/g)?.length ?? 0),
      column: index - lineStart + 1,
    };
  });
}

function messageFor(tag: string, inner: string): string {
  const shown = tag.replace(/\s+/g, ' ');
  const go = goForm(inner);
  return `${shown} is a Liquid tag and would reach the agent as it stands; ${go === null ? 'this language has no such tag' : `write ${go}`}`;
}

/** The same in the language of the prompt, or null. */
function goForm(inner: string): string | null {
  const [word = '', ...rest] = inner.split(/\s+/);
  const make = Object.hasOwn(FORMS, word) ? FORMS[word] : undefined;
  return make === undefined ? null : make(rest.join(' '));
}

const FORMS: Readonly<Record<string, (rest: string) => string | null>> = {
  if: (rest) => `{{ if ${condition(rest)} }}`,
  elsif: (rest) => `{{ else if ${condition(rest)} }}`,
  unless: (rest) => `{{ if not (${condition(rest)}) }}`,
  else: () => '{{ else }}',
  endif: () => '{{ end }}',
  endunless: () => '{{ end }}',
  endfor: () => '{{ end }}',
  for(rest) {
    const [, name = '', list = ''] = /^(\w+) in (\S+)/.exec(rest) ?? [];
    return list === '' ? null : `{{ range ${value(list)} }}, and {{ .field }} for {{ ${name}.field }}`;
  },
  assign(rest) {
    const [, name = '', from = ''] = /^(\w+) *= *(.+)$/.exec(rest) ?? [];
    return from === '' ? null : `{{ $${name} := ${value(from)} }}`;
  },
  comment: () => '{{/* … */}}',
  endcomment: () => '{{/* … */}}',
};

const COMPARED: Readonly<Record<string, string>> = { '==': 'eq', '!=': 'ne', '<': 'lt', '<=': 'le', '>': 'gt', '>=': 'ge' };

function condition(text: string): string {
  const [, joined = '', both = '', after = ''] = /^(.+?) (and|or) (.+)$/.exec(text) ?? [];
  if (both !== '') return `${both} (${condition(joined)}) (${condition(after)})`;
  const [, left = '', sign = '', right = ''] = /^(\S+) *(==|!=|<=|>=|<|>) *(.+)$/.exec(text) ?? [];
  return sign === '' ? value(text) : `${COMPARED[sign]} ${value(left)} ${value(right)}`;
}

/** Names begin with a dot; numbers and quoted text stay. */
function value(text: string): string {
  const [name = '', ...filters] = text.split('|').map((part) => part.trim());
  const first = /^[A-Za-z_]/.test(name) && !/^(?:true|false|nil)$/.test(name) ? `.${name}` : name.replace(/^'(.*)'$/, '"$1"');
  return [first, ...filters.map((filter) => (Object.hasOwn(FILTERS, filter) ? FILTERS[filter] : filter))].join(' | ');
}

const FILTERS: Readonly<Record<string, string>> = {
  upcase: 'upper',
  downcase: 'lower',
  strip: 'trim',
  size: 'len',
  json: 'toJSON',
};
