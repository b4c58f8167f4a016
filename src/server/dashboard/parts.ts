import { clockText, utcText, type ClockKind } from './format.ts';
import { html, type Html, type Value } from './html.ts';

/** Text longer than this is folded away. */
const EXCERPT = 160;

/** A time that the browser keeps counting by itself. */
export function clock(kind: ClockKind, at: number, now: number): Html {
  const text = clockText(kind, at, now);
  return html`<time datetime="${new Date(at).toISOString()}" data-clock="${kind}" data-at="${at}" title="${utcText(at)}"
    >${text}</time
  >`;
}

interface Named {
  readonly identifier: string;
  readonly displayIdentifier: string | null;
  readonly title: string;
  readonly url: string;
}

/** What people call the issue, linked to its tracker, and its title. */
export function issueCell(issue: Named, href: string = issue.url): Html {
  const name = html`<bdi>${issue.displayIdentifier ?? issue.identifier}</bdi>`;
  return html`${isLink(href) ? html`<a class="issue" href="${href}">${name}</a>` : html`<span class="issue">${name}</span>`}
    <span class="sub title"><bdi>${issue.title}</bdi></span>`;
}

/** A tracker's URL may say anything: only web addresses and our own pages become links. */
export function isLink(href: string): boolean {
  return /^https?:\/\//i.test(href) || /^\/(?!\/)/.test(href);
}

export function chip(tone: string, text: string): Html {
  return html`<span class="chip" data-tone="${tone}"><bdi>${text}</bdi></span>`;
}

/** Long text shows its beginning and unfolds; `key` keeps it unfolded while the page changes around it. */
export function foldedText(text: string, key: string): Html {
  const letters = [...text];
  if (letters.length <= EXCERPT && !text.includes('\n')) return html`<bdi class="text">${text}</bdi>`;
  const start = letters.slice(0, EXCERPT).join('').replaceAll('\n', ' ');
  return html`<details data-key="${key}">
    <summary><bdi>${start}…</bdi></summary>
    <pre><bdi>${text}</bdi></pre>
  </details>`;
}

interface PanelOptions {
  readonly id: string;
  readonly title: string;
  readonly count?: number;
  readonly wide?: boolean;
  readonly aside?: Value;
}

export function panel({ id, title, count, wide, aside }: PanelOptions, body: Value): Html {
  return html`<section class="panel${wide ? ' wide' : ''}" aria-labelledby="${id}-title" data-key="panel-${id}">
    <header>
      <h2 id="${id}-title">${title}${count !== undefined && html` <span class="count">${count}</span>`}</h2>
      ${aside && html`<p class="aside">${aside}</p>`}
    </header>
    ${body}
  </section>`;
}

export interface Column<Row> {
  readonly label: string;
  /** Figures stand on the right and never break; on a phone they and other short cells share a line. */
  readonly fit?: 'figure' | 'short';
  readonly cell: (row: Row) => Value;
}

interface TableOptions<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly key: (row: Row) => string;
  readonly limit: number;
  /** Where the whole list is. */
  readonly json: string;
  /** Shown in place of no rows: what happens next. */
  readonly empty: Value;
}

/** A table whose first column heads the row. Each cell also carries its label: on a phone a row becomes a card. */
export function table<Row>({ columns, rows, key, limit, json, empty }: TableOptions<Row>): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const hidden = rows.length - limit;
  return html`<table>
      <thead>
        <tr>
          ${columns.map(({ label, fit }) => html`<th scope="col" ${fit && html` class="${fit}"`}>${label}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.slice(0, limit).map(
          (row) =>
            html`<tr data-key="${key(row)}">
              ${columns.map((column, index) => cell(column, index, row))}
            </tr>`,
        )}
      </tbody>
    </table>
    ${hidden > 0 && html`<p class="more">and ${hidden} more, <a href="${json}">all as JSON</a></p>`}`;
}

function cell<Row>({ label, fit, cell: content }: Column<Row>, index: number, row: Row): Html {
  if (index === 0) return html`<th scope="row">${content(row)}</th>`;
  return html`<td data-label="${label}" ${fit && html` class="${fit}"`}>${content(row)}</td>`;
}
