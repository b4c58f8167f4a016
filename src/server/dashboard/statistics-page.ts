import type { Context } from 'hono';
import { costText } from '../../domain/model/cost.ts';
import { thinned } from '../../domain/views/chronicle.ts';
import type { Daemon } from '../../ports/daemon.ts';
import { STATISTICS_BY, type StatisticsBy, type StatisticsRow } from '../../ports/store.ts';
import { daysOf, isStatisticsBy } from '../api/lists.ts';
import { readSnapshot } from '../snapshot.ts';
import { footer, masthead } from './chrome.ts';
import { documentOf } from './document.ts';
import { countText, durationText, moneyText } from './format.ts';
import { html, type Html } from './html.ts';
import { noStatePage } from './notice-page.ts';
import { chartsPanel, outcomesText, type AgentDays } from './statistics-charts.ts';
import { issueHref, panel, table, type Column } from './parts.ts';

const DAY_MS = 86_400_000;
const SPANS = [1, 7, 30, 90] as const;
const PAGE_SIZE = 100;
/** More than a chart can show. */
const MOST_POINTS = 240;

/** Runs added up, as charts and as a table: the numbers of `foray stats`. */
export function getStatisticsPage(daemon: Daemon) {
  return async (c: Context): Promise<Response> => {
    const snapshot = readSnapshot(daemon);
    if (snapshot === null) return c.html(noStatePage(daemon), 503);
    const given = c.req.query();
    const by = isStatisticsBy(given.by ?? '') ? (given.by as StatisticsBy) : 'day';
    const days = daysOf(given.days) ?? 7;
    const since = snapshot.generatedAt - days * DAY_MS;
    const [rows, byDay, agents, samples] = await Promise.all([
      daemon.history.statistics({ since, by }),
      daemon.history.statistics({ since, by: 'day' }),
      agentDays(daemon, since),
      daemon.chronicle.samplesSince(since),
    ]);
    const body = html`${masthead(c, daemon, snapshot, '/statistics')}
      <main data-key="main">
        <div class="heading" data-key="heading">
          <h1>Statistics</h1>
          ${choices(by, days)}
        </div>
        ${chartsPanel({ since, now: snapshot.generatedAt, byDay, agents, samples: thinned(samples, MOST_POINTS), quotas: snapshot.quotas })}
        ${tablePanel(rows, by, days, given.page)}
      </main>
      ${footer(daemon, snapshot)}`;
    return c.html(documentOf({ title: 'Statistics · foray', live: { now: snapshot.generatedAt }, body }));
  };
}

function choices(by: StatisticsBy, days: number): Html {
  const link = (name: string, href: string, current: boolean) =>
    html`<a href="${href}" ${current && html` aria-current="true"`}>${name}</a>`;
  return html`<nav class="choices" aria-label="What is shown">
    <span>${SPANS.map((span) => link(span === 1 ? '24 hours' : `${span} days`, `?by=${by}&days=${span}`, span === days))}</span>
    <span>${STATISTICS_BY.map((key) => link(`by ${key}`, `?by=${key}&days=${days}`, key === by))}</span>
  </nav>`;
}

/** The agents with most runs first. */
async function agentDays({ history }: Daemon, since: number): Promise<readonly AgentDays[]> {
  const agents = await history.statistics({ since, by: 'agent' });
  return Promise.all(
    agents.map(async ({ key: agent }) => ({ agent, days: await history.statistics({ since, by: 'day', agent }) })),
  );
}

function tablePanel(rows: readonly StatisticsRow[], by: StatisticsBy, days: number, page: string | undefined): Html {
  const columns: readonly Column<StatisticsRow>[] = [
    {
      label: `${by.charAt(0).toUpperCase()}${by.slice(1)}`,
      cell: ({ key }) =>
        by === 'issue'
          ? html`<a class="issue" href="${issueHref(key)}"><bdi>${key}</bdi></a>`
          : html`<bdi>${key === '' ? 'none' : key}</bdi>`,
    },
    { label: 'Runs', style: 'figure', onPhone: true, cell: (row) => row.runs },
    { label: 'Outcomes', cell: outcomesText },
    { label: 'Time', style: 'figure', cell: (row) => durationText(row.seconds * 1000) },
    { label: 'Longest', style: 'figure', cell: (row) => durationText(row.longestSeconds * 1000) },
    { label: 'Tokens', style: 'figure', cell: (row) => countText(row.tokens.totalTokens) },
    { label: 'Cost', style: 'figure', onPhone: true, cell: (row) => costText(row, moneyText) },
  ];
  const number = Math.max(1, Number(/^\d{1,6}$/.exec(page ?? '')?.[0] ?? 1));
  return panel(
    { id: 'numbers', title: `By ${by}`, count: rows.length, wide: true },
    table({
      columns,
      rows,
      key: ({ key }) => `row-${key}`,
      page: { number, size: PAGE_SIZE, link: (next) => `?by=${by}&days=${days}&page=${next}` },
      empty: 'No run in this time.',
    }),
  );
}
