import type { html as honoHtml } from 'hono/html';

export { html } from 'hono/html';

/** Text that is known to be markup: only the `html` tag makes it, so nothing gets in unescaped. */
export type Html = ReturnType<typeof honoHtml>;

/** What may stand in a template: text is escaped, markup is kept, lists are joined, nothing is nothing. */
export type TemplatePart = string | number | Html | null | undefined | false | readonly TemplatePart[];
