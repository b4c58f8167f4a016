import type { Context } from 'hono';
import type { Snapshot } from '../../domain/snapshot.ts';
import type { Daemon } from '../../ports/daemon.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { StatisticsRow } from '../../ports/store.ts';
import { readSnapshot } from '../api/v1.ts';
import { BOARD_PANELS, BOARD_SORTS, boardQuery, type BoardPanel, type BoardQuery } from './board-query.ts';
import { footer, masthead } from './chrome.ts';
import { documentOf } from './document.ts';
import { historyPanel, HISTORY_LENGTH, type History } from './history.ts';
import { hostsPanel } from './hosts.ts';
import { html, type Html, type TemplatePart } from './html.ts';
import { noticePage } from './notice-page.ts';
import { alerts, countsText, summaryCards } from './summary.ts';
import { holdsPanel, mergeRequestPanel, parkedPanel } from './waiting.ts';
import { retryPanel, runningPanel } from './work.ts';

/** Sums over many runs are worth one query now and then, not one per look. */
const SUMS_KEPT_MS = 15_000;
const DAY_MS = 86_400_000;

/** The board: what needs a person first, then what runs, waits and is held back. */
export function getBoard(daemon: Daemon) {
  const totals = kept(SUMS_KEPT_MS, daemon.clock, () => daemon.history.totals());
  const week = kept(SUMS_KEPT_MS, daemon.clock, () =>
    daemon.history.statistics({ since: weekBegins(daemon.clock.now()), by: 'day' }),
  );
  const read = async (): Promise<Past> => ({
    history: { runs: await daemon.history.listRuns({ limit: HISTORY_LENGTH }), totals: await totals() },
    days: await week(),
  });
  return async (c: Context): Promise<Response> => {
    const snapshot = readSnapshot(daemon);
    if (snapshot === null) return c.html(noticePage(daemon, 'The state of the service could not be read.'), 503);
    const past = await read().catch((error: unknown): Past => {
      daemon.logger.warn('history read failed', { error: String(error) });
      return { history: null, days: null };
    });
    return c.html(boardPage(daemon, snapshot, boardQuery(c.req.query()), past));
  };
}

interface Past {
  readonly history: History | null;
  readonly days: readonly StatisticsRow[] | null;
}

function boardPage(daemon: Daemon, snapshot: Snapshot, query: BoardQuery, { history, days }: Past): Html {
  const shows = (panel: BoardPanel) => query.show === 'all' || query.show === panel;
  const body = html`${masthead(daemon, snapshot, '/')}
    <main data-key="main">
      <h1 class="spoken">foray</h1>
      ${alerts(snapshot, daemon.workflow(), daemon.leader?.())} ${summaryCards(snapshot, days)} ${filterBar(query)}
      ${shows('person') && parkedPanel(snapshot, query)} ${shows('running') && runningPanel(snapshot, query)}
      ${query.show === 'all' && hostsPanel(daemon.hosts(), snapshot.generatedAt)}
      ${shows('retrying') && retryPanel(snapshot, query)} ${shows('holds') && holdsPanel(snapshot, query)}
      ${shows('merge-requests') && mergeRequestPanel(snapshot, query)} ${shows('history') && historyPanel(history, snapshot)}
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

/** The first of seven days, today included. */
function weekBegins(now: number): number {
  return (Math.floor(now / DAY_MS) - 6) * DAY_MS;
}

/** Remembers an answer for a while. A failure is not remembered. */
function kept<T>(forMs: number, clock: Clock, read: () => Promise<T>): () => Promise<T> {
  let known: { readonly at: number; readonly value: T } | null = null;
  return async () => {
    if (known === null || clock.now() - known.at >= forMs) known = { at: clock.now(), value: await read() };
    return known.value;
  };
}
