import type { Context } from 'hono';
import type { Snapshot } from '../../domain/snapshot.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { Daemon } from '../../ports/daemon.ts';
import { readSnapshot } from '../api/v1.ts';
import script from './client/main.ts?bundle';
import { documentOf } from './document.ts';
import { historyPanel, HISTORY_LENGTH, runDetails, type History } from './history.ts';
import { html, type Html } from './html.ts';
import style from './style.css?bundle';
import { alerts, countsText, masthead, summaryCards } from './summary.ts';
import { holdsPanel, mergeRequestPanel, parkedPanel } from './waiting.ts';
import { retryPanel, runningPanel } from './work.ts';

/** Sums over all runs ever are worth one query now and then, not one per look. */
const TOTALS_KEPT_MS = 15_000;

export function getStyle(c: Context): Response {
  return c.body(style, 200, { 'Content-Type': 'text/css; charset=utf-8' });
}

export function getScript(c: Context): Response {
  return c.body(script, 200, { 'Content-Type': 'text/javascript; charset=utf-8' });
}

export function getDashboard(daemon: Daemon) {
  const totals = kept(TOTALS_KEPT_MS, daemon.clock, () => daemon.history.totals());
  const history = async (): Promise<History> => ({
    runs: await daemon.history.listRuns({ limit: HISTORY_LENGTH }),
    totals: await totals(),
  });
  return async (c: Context): Promise<Response> => {
    const snapshot = readSnapshot(daemon);
    if (snapshot === null) return c.html(noticePage(daemon, 'The state of the service could not be read.'), 503);
    const past = await history().catch((error: unknown) => {
      daemon.logger.warn('history read failed', { error: String(error) });
      return null;
    });
    return c.html(dashboardPage(snapshot, daemon.version, past));
  };
}

export function getRunPage(daemon: Daemon) {
  return async (c: Context): Promise<Response> => {
    const found = await daemon.history.findRun(c.req.param('id') ?? '');
    if (found === null) return c.html(noticePage(daemon, 'There is no such run.'), 404);
    const now = daemon.clock.now();
    const { run, events } = found;
    const name = run.issue.displayIdentifier ?? run.issue.identifier;
    const body = html`${subpageHead(html`<bdi>${name}</bdi> <span class="title"><bdi>${run.issue.title}</bdi></span>`)}
      <main data-key="main">${runDetails(run, events, now)}</main>`;
    return c.html(documentOf({ title: `${name} · foray`, live: { now }, body }));
  };
}

function dashboardPage(snapshot: Snapshot, version: string, past: History | null): Html {
  const now = snapshot.generatedAt;
  const body = html`${masthead(snapshot, version)}
    <main data-key="main">
      ${alerts(snapshot)} ${summaryCards(snapshot)} ${runningPanel(snapshot)} ${retryPanel(snapshot)} ${parkedPanel(snapshot)}
      ${holdsPanel(snapshot)} ${mergeRequestPanel(snapshot)} ${historyPanel(past, now)}
    </main>
    <footer data-key="footer">
      <nav aria-label="Machine-readable views">
        <a href="/api/v1/state">State</a> <a href="/api/v2/runs">Runs</a> <a href="/api/v2/parked">Parked</a>
        <a href="/api/v2/holds">Holds</a> <a href="/api/v2/merge-requests">Merge requests</a> <a href="/metrics">Metrics</a>
        <a href="/readyz">Readiness</a>
      </nav>
    </footer>`;
  return documentOf({ title: `${countsText(snapshot)} · foray`, live: { now }, body });
}

function noticePage(daemon: Daemon, text: string): Html {
  const body = html`${subpageHead('foray')}
    <main data-key="main"><p class="alert">${text}</p></main>`;
  return documentOf({ title: 'foray', live: { now: daemon.clock.now() }, body });
}

function subpageHead(title: Html | string): Html {
  return html`<header class="masthead" data-key="masthead">
    <nav aria-label="Back"><a class="back" href="/">Dashboard</a></nav>
    <h1>${title}</h1>
    <p id="stream" class="scripted-only" data-keep></p>
  </header>`;
}

/** Remembers an answer for a while. A failure is not remembered. */
function kept<T>(forMs: number, clock: Clock, read: () => Promise<T>): () => Promise<T> {
  let known: { readonly at: number; readonly value: T } | null = null;
  return async () => {
    if (known === null || clock.now() - known.at >= forMs) known = { at: clock.now(), value: await read() };
    return known.value;
  };
}
