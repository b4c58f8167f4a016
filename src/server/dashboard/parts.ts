import { percentEncoded } from '../../lib/percent-encoded.ts';
import { shownTitle } from '../../lib/short-text.ts';
import { clockText, utcText, type ClockKind } from './format.ts';
import { html, type Html, type TemplatePart } from './html.ts';

/** Text longer than this is folded away. */
const EXCERPT = 160;

/** A time that the browser keeps counting by itself. */
export function clock(kind: ClockKind, at: number, now: number): Html {
  const text = clockText(kind, at, now);
  return html`<time datetime="${new Date(at).toISOString()}" data-clock="${kind}" data-at="${at}" title="${utcText(at)}"
    >${text}</time
  >`;
}

/** A moment: in the reader's own zone where scripts run, with the exact UTC at hand. */
export function moment(at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}" data-moment data-at="${at}" title="${utcText(at)}"
    >${utcText(at)}</time
  >`;
}

interface Named {
  readonly identifier: string;
  readonly displayIdentifier: string | null;
  readonly title: string;
  readonly url: string;
}

/** What people call the issue, linked to its page, its title, and the way to the tracker. */
export function issueCell(issue: Named, href: string = issueHref(issue.identifier)): Html {
  const name = shownIdentifier(issue);
  return html`<a class="issue" href="${href}"><bdi>${name}</bdi></a>
    ${isLink(issue.url) && html`<a class="outside" href="${issue.url}" aria-label="${name} in the tracker" title="in the tracker">${OUTSIDE}</a>`}
    <span class="sub title"><bdi>${shownTitle(issue.title)}</bdi></span>`;
}

const OUTSIDE = html`<svg viewBox="0 0 16 16" width="11" height="11" aria-hidden="true" focusable="false">
  <path d="M6 3H3v10h10v-3M9 2h5v5M14 2 7 9" />
</svg>`;

export function shownIdentifier({ displayIdentifier, identifier }: Pick<Named, 'displayIdentifier' | 'identifier'>): string {
  return displayIdentifier ?? identifier;
}

export function issueHref(identifier: string): string {
  return `/issues/${percentEncoded(identifier)}`;
}

export function runHref(runId: string): string {
  return `/runs/${percentEncoded(runId)}`;
}

/** A tracker's URL may say anything: only web addresses become links. */
export function isLink(href: string): boolean {
  return /^https?:\/\//i.test(href);
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
    <pre tabindex="0"><bdi>${text}</bdi></pre>
  </details>`;
}

interface PanelOptions {
  readonly id: string;
  readonly title: string;
  readonly count?: number;
  readonly wide?: boolean;
  readonly aside?: TemplatePart;
}

export function panel({ id, title, count, wide, aside }: PanelOptions, body: TemplatePart): Html {
  return html`<section class="panel${wide ? ' wide' : ''}" aria-labelledby="${id}-title" data-key="panel-${id}" id="${id}">
    <header>
      <h2 id="${id}-title" tabindex="-1">${title}${count !== undefined && html` <span class="count">${count}</span>`}</h2>
      ${aside && html`<p class="aside">${aside}</p>`}
    </header>
    ${body}
  </section>`;
}

export interface Column<Row> {
  readonly label: string;
  /** Figures stand on the right and never break. */
  readonly style?: 'figure' | 'short' | 'act';
  /** On a phone a row is one line: the issue, what is said to stay, and its actions unless said otherwise. */
  readonly onPhone?: boolean;
  /** Left out where there is no room for it, such as on a tablet. */
  readonly onTablet?: false;
  readonly cell: (row: Row) => TemplatePart;
}

interface TableOptions<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly key: (row: Row) => string;
  /** Which part of the rows is shown, from 1. */
  readonly page?: Page;
  /** Shown in place of no rows: what happens next. */
  readonly empty: TemplatePart;
}

export interface Page {
  readonly number: number;
  readonly size: number;
  readonly link: (page: number) => string;
}

/** A table whose first column heads the row. */
export function table<Row>({ columns, rows, key, page, empty }: TableOptions<Row>): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const { shown, pages, number } = cutPage(rows, page);
  return html`<table>
      <thead>
        <tr>
          ${columns.map(headCell)}
        </tr>
      </thead>
      <tbody>
        ${shown.map(
          (row) =>
            html`<tr data-key="${key(row)}">
              ${columns.map((column, index) => cell(column, index, row))}
            </tr>`,
        )}
      </tbody>
    </table>
    ${page !== undefined && pages > 1 && pager(page, number, pages, rows.length)}`;
}

/** A page beyond the last shows the last: lists grow shorter while one reads. */
function cutPage<Row>(rows: readonly Row[], page: Page | undefined) {
  if (page === undefined) return { shown: rows, pages: 1, number: 1 };
  const pages = Math.ceil(rows.length / page.size);
  const number = Math.min(page.number, pages);
  return { shown: rows.slice((number - 1) * page.size, number * page.size), pages, number };
}

function pager({ link, size }: Page, number: number, pages: number, count: number): Html {
  const from = (number - 1) * size + 1;
  return html`<nav class="pager" aria-label="Pages of this list">
    ${number > 1 && html`<a href="${link(number - 1)}" rel="prev">Previous</a>`}
    <span>${from} to ${Math.min(number * size, count)} of ${count}</span>
    ${number < pages && html`<a href="${link(number + 1)}" rel="next">Next</a>`}
  </nav>`;
}

function headCell<Row>({ label, style, onTablet }: Column<Row>): Html {
  const classes = [style, onTablet === false && 'not-on-tablet'].filter(Boolean).join(' ');
  return html`<th scope="col" ${classes !== '' && html` class="${classes}"`}>
    ${style === 'act' ? html`<span class="spoken">${label}</span>` : label}
  </th>`;
}

function cell<Row>({ style, onPhone, onTablet, cell: content }: Column<Row>, index: number, row: Row): Html {
  if (index === 0) return html`<th scope="row">${content(row)}</th>`;
  const isShown = onPhone ?? style === 'act';
  const classes = [style ?? 'words', isShown && 'on-phone', onTablet === false && 'not-on-tablet'].filter(Boolean).join(' ');
  return html`<td class="${classes}">${content(row)}</td>`;
}

/** The flag beside the name. */
export function mark(): Html {
  return html`<svg class="mark" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" focusable="false">
    <path d="M5 21V3" />
    <path d="M5 4h13l-3.5 4.5L18 13H5" />
  </svg>`;
}
