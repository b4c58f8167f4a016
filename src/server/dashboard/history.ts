import type { Context } from 'hono';
import { costText } from '../../domain/model/cost.ts';
import type { Run, RunStatus } from '../../domain/model/run.ts';
import type { Snapshot } from '../../domain/views/snapshot.ts';
import type { Daemon } from '../../ports/daemon.ts';
import type { LifetimeTotals } from '../../ports/store.ts';
import { readSnapshot } from '../snapshot.ts';
import { positionOf, readRunList } from '../run-list.ts';
import { selectRows, type BoardQuery } from './board-query.ts';
import { footer, masthead } from './chrome.ts';
import { documentOf } from './document.ts';
import { countText, durationText, moneyText, wordsOf } from './format.ts';
import { html, type Html, type TemplatePart } from './html.ts';
import { noStatePage } from './notice-page.ts';
import { HISTORY_LENGTH, type Past } from './past.ts';
import { chip, clock, issueCell, panel, runHref, table, type Column } from './parts.ts';
import { foundText, NOT_FOUND, tokensText } from './work.ts';

const PAGE_SIZE = 50;

export const RUN_TONES: Readonly<Record<RunStatus, string>> = {
  running: 'live',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'plain',
  interrupted: 'warn',
  budget_stopped: 'warn',
  blocked: 'warn',
};

export function historyPanel(past: Past | null, snapshot: Snapshot, query: BoardQuery): Html {
  if (past === null) {
    return panel(
      { id: 'history', title: 'Recent runs', wide: true },
      html`<p class="empty">History could not be read. The log says why.</p>`,
    );
  }
  const rows = selectRows(past.runs, query, ({ issue, status, trigger, error, startedAt }) => ({
    ...issue,
    more: [wordsOf(status), wordsOf(trigger), error ?? ''],
    at: startedAt,
  }));
  const empty = past.runs.length > 0 ? NOT_FOUND : 'No run yet. The first one shows here as soon as it starts.';
  const aside = foundText(rows, past.runs) || lifetimeText(past.totals);
  return panel({ id: 'history', title: 'Recent runs', wide: true, aside }, [
    runTable(rows, snapshot, empty),
    past.runs.length >= HISTORY_LENGTH && html`<p class="more"><a href="/history">All runs</a></p>`,
  ]);
}

/** All runs ever, a page at a time. */
export function getHistoryPage(daemon: Daemon) {
  return async (c: Context): Promise<Response> => {
    const snapshot = readSnapshot(daemon);
    if (snapshot === null) return c.html(noStatePage(daemon), 503);
    const { identifier = '', cursor } = c.req.query();
    const after = cursor === undefined ? null : positionOf(cursor);
    const { runs, nextCursor } = await readRunList(daemon.history, {
      limit: PAGE_SIZE,
      ...(identifier !== '' && { identifier }),
      ...(after && { after }),
    });
    const next =
      nextCursor && `/history?${new URLSearchParams({ ...(identifier && { identifier }), cursor: nextCursor }).toString()}`;
    const body = html`${masthead(c, daemon, snapshot, '/history')}
      <main data-key="main">
        <h1 class="spoken">Runs</h1>
        ${panel({ id: 'history', title: 'Runs', wide: true }, [
          html`<form class="tools" method="get" role="search" data-key="tools">
            <label class="grow"
              ><span class="spoken">Issue</span
              ><input type="search" name="identifier" value="${identifier}" placeholder="Issue, such as SHOP-412" data-keep
            /></label>
            <button>Show its runs</button>
          </form>`,
          runTable(runs, snapshot, identifier === '' ? 'No run yet.' : 'There is no run of this issue.'),
          (next !== null || after !== null) &&
            html`<nav class="pager" aria-label="Pages of this list">
              ${after !== null && html`<a href="/history">Newest</a>`}
              ${next !== null && html`<a href="${next}" rel="next">Older</a>`}
            </nav>`,
        ])}
      </main>
      ${footer(daemon, snapshot)}`;
    return c.html(documentOf({ title: 'Runs · foray', live: { now: snapshot.generatedAt }, body }));
  };
}

export function runTable(runs: readonly Run[], snapshot: Snapshot, empty: TemplatePart): Html {
  const now = snapshot.generatedAt;
  const columns: readonly Column<Run>[] = [
    { label: 'Issue', cell: (run) => issueCell(run.issue) },
    {
      label: 'Status',
      style: 'short',
      onPhone: true,
      cell: (run) => html`<a class="plain" href="${runHref(run.id)}">${chip(RUN_TONES[run.status], wordsOf(run.status))}</a>`,
    },
    {
      label: 'Trigger',
      style: 'short',
      onTablet: false,
      cell: (run) => [wordsOf(run.trigger), run.attempt > 0 && html`<span class="sub">attempt ${run.attempt}</span>`],
    },
    { label: 'Started', style: 'figure', onPhone: true, cell: (run) => clock('ago', run.startedAt, now) },
    { label: 'Duration', style: 'figure', cell: (run) => runDuration(run, now) },
    { label: 'Turns', style: 'figure', cell: (run) => run.turns },
    {
      label: 'Tokens',
      style: 'figure',
      cell: (run) => [tokensText(run), run.costUsd !== null && html`<span class="sub">${moneyText(run.costUsd)}</span>`],
    },
    {
      label: 'Transcript',
      style: 'act',
      onPhone: false,
      cell: (run) => html`<a href="${runHref(run.id)}" aria-label="Open transcript of ${run.issue.identifier}">Open</a>`,
    },
  ];
  return table({ columns, rows: runs.map((run) => currentRun(run, snapshot)), key: (run) => `run-${run.id}`, empty });
}

/** The database is some seconds behind a session that runs: its figures are those of the session, as everywhere else. */
export function currentRun(run: Run, { running }: Snapshot): Run {
  const live = run.endedAt === null ? running.find(({ runId }) => runId === run.id) : undefined;
  if (live === undefined) return run;
  const { turnCount, tokens, tokensMeasured, costUsd, modelName, sessionId, workspacePath } = live;
  return { ...run, turns: turnCount, tokens, tokensMeasured, costUsd, model: modelName, sessionId, workspacePath };
}

export function runDuration(run: Run, now: number): Html {
  if (run.endedAt === null) return clock('since', run.startedAt, now);
  return html`<span>${durationText(run.endedAt - run.startedAt)}</span>`;
}

function lifetimeText({ runs, totalTokens, seconds, ...costs }: LifetimeTotals): TemplatePart {
  if (runs === 0) return null;
  const all = `All time: ${runs} ${runs === 1 ? 'run' : 'runs'}, ${countText(totalTokens)} tokens, ${durationText(seconds * 1000)}`;
  if (costs.costUsd > 0) return `${all}, est. ${costText(costs, moneyText)}`;
  return costs.unpricedRuns > 0 ? `${all}, cost unknown` : all;
}
