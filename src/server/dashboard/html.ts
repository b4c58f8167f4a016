const MARKUP = Symbol('markup');

/** Text that is known to be markup. Only the `html` tag makes it, so nothing gets in unescaped. */
export interface Html {
  readonly [MARKUP]: string;
}

/** What may stand in a template: text is escaped, markup is kept, lists are joined, nothing is nothing. */
export type Value = string | number | Html | null | undefined | false | readonly Value[];

export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  let markup = parts[0] ?? '';
  values.forEach((value, index) => {
    markup += render(value) + (parts[index + 1] ?? '');
  });
  return { [MARKUP]: markup };
}

export function markupOf(page: Html): string {
  return page[MARKUP];
}

function render(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') return escape(String(value));
  if (isList(value)) return value.map(render).join('');
  return value[MARKUP];
}

function isList(value: Html | readonly Value[]): value is readonly Value[] {
  return Array.isArray(value);
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Safe in text and in quoted attributes. */
function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
