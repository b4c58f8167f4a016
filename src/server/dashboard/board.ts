import type { Context } from 'hono';
import type { Snapshot } from '../../domain/views/snapshot.ts';
import type { Daemon } from '../../ports/daemon.ts';
import { readSnapshot } from '../snapshot.ts';
import { BOARD_PANELS, BOARD_SORTS, boardQuery, type BoardPanel, type BoardQuery } from './board-query.ts';
import { footer, masthead } from './chrome.ts';
import { documentOf } from './document.ts';
import { historyPanel } from './history.ts';
import { hostsPanel } from './hosts.ts';
import { html, type Html, type TemplatePart } from './html.ts';
import { noStatePage } from './notice-page.ts';
import { createPast, type Past } from './past.ts';
import { alerts, countsText, summaryCards } from './summary.ts';
import { holdsPanel, mergeRequestPanel, parkedPanel } from './waiting.ts';
import { retryPanel, runningPanel } from './work.ts';

/** The board: what needs a person first, then what runs, waits and is held back. */
export function getBoard(daemon: Daemon) {
  const readPast = createPast(daemon);
  return async (c: Context): Promise<Response> => {
    const snapshot = readSnapshot(daemon);
    if (snapshot === null) return c.html(noStatePage(daemon), 503);
    const past = await readPast(snapshot).catch((error: unknown) => {
      daemon.logger.warn('history read failed', { error: String(error) });
      return null;
    });
    return c.html(boardPage(c, daemon, snapshot, past));
  };
}

/** Null in place of the past when the database did not answer. */
function boardPage(c: Context, daemon: Daemon, snapshot: Snapshot, past: Past | null): Html {
  const query = boardQuery(c.req.query());
  const shows = (panel: BoardPanel) => query.show === 'all' || query.show === panel;
  const body = html`${masthead(c, daemon, snapshot, '/')}
    <main data-key="main">
      <h1 class="spoken">foray</h1>
      ${alerts(snapshot, daemon.workflow(), daemon.leader?.())} ${summaryCards(snapshot, past?.days ?? null)} ${filterBar(query)}
      ${shows('person') && parkedPanel(snapshot, query)} ${shows('running') && runningPanel(snapshot, query)}
      ${query.show === 'all' && hostsPanel(daemon.hosts(), snapshot.generatedAt)}
      ${shows('retrying') && retryPanel(snapshot, query)} ${shows('holds') && holdsPanel(snapshot, query)}
      ${shows('merge-requests') && mergeRequestPanel(snapshot, query)} ${shows('history') && historyPanel(past, snapshot, query)}
    </main>
    ${footer(daemon, snapshot)}`;
  return documentOf({ title: `${countsText(snapshot)} · foray`, live: { now: snapshot.generatedAt }, body });
}

const PANEL_NAMES: Readonly<Record<BoardPanel, string>> = {
  all: 'Everything',
  person: 'Needs a person',
  running: 'Running',
  retrying: 'Retrying',
  holds: 'Not dispatched',
  'merge-requests': 'Merge requests',
  history: 'Recent runs',
};
const SORT_NAMES = {
  usual: 'Usual order',
  identifier: 'By identifier',
  newest: 'Newest first',
  oldest: 'Oldest first',
} as const;

/** Search, filter and sort, as a plain form: they live in the URL. */
function filterBar({ search, show, sort }: BoardQuery): Html {
  const option = (value: string, name: string, current: string): TemplatePart =>
    html`<option value="${value}" ${value === current && html` selected`}>${name}</option>`;
  return html`<form class="tools filters" method="get" action="/" role="search" data-key="filters" data-keep>
    <label class="grow"
      ><span class="spoken">Search issues</span
      ><input type="search" name="q" value="${search}" placeholder="Search issues, reasons, errors"
    /></label>
    <label
      ><span class="spoken">Show</span
      ><select name="show">
        ${BOARD_PANELS.map((panel) => option(panel, PANEL_NAMES[panel], show))}
      </select></label
    >
    <label
      ><span class="spoken">Order</span
      ><select name="sort">
        ${BOARD_SORTS.map((order) => option(order, SORT_NAMES[order], sort))}
      </select></label
    >
    <button>Apply</button>
  </form>`;
}
