import type { Context } from 'hono';
import type { RunStatus } from '../../domain/model/run.ts';
import type { Daemon } from '../../ports/daemon.ts';
import { STATISTICS_BY, type StatisticsBy, type StatisticsRow } from '../../ports/store.ts';
import { daysOf, isStatisticsBy } from '../api/lists.ts';
import { readSnapshot } from '../api/v1.ts';
import { barChart, lineChart } from './charts.ts';
import { footer, masthead } from './chrome.ts';
import { documentOf } from './document.ts';
import { countText, durationText, moneyText, wordsOf } from './format.ts';
import { html, type Html } from './html.ts';
import { noticePage } from './notice-page.ts';
import { issueHref, panel, table, type Column } from './parts.ts';
import type { ServiceSample, Samples } from './samples.ts';

const DAY_MS = 86_400_000;
const SPANS = [1, 7, 30, 90] as const;
const PAGE_SIZE = 100;
const GOOD: readonly RunStatus[] = ['succeeded'];
const BAD: readonly RunStatus[] = ['failed', 'budget_stopped', 'blocked'];

/** Runs added up, as charts and as a table: the numbers of `foray stats`. */
export function getStatisticsPage(daemon: Daemon, samples: Samples) {
  return async (c: Context): Promise<Response> => {
    const snapshot = readSnapshot(daemon);
    if (snapshot === null) return c.html(noticePage(daemon, 'The state of the service could not be read.'), 503);
    const given = c.req.query();
    const by = isStatisticsBy(given.by ?? '') ? (given.by as StatisticsBy) : 'day';
    const days = daysOf(given.days) ?? 7;
    const since = snapshot.generatedAt - days * DAY_MS;
    const [rows, byDay, byAgent] = await Promise.all(
      [by, 'day' as const, 'agent' as const].map((key) => daemon.history.statistics({ since, by: key })),
    );
    const body = html`${masthead(daemon, snapshot, '/statistics')}
      <main data-key="main">
        <div class="heading" data-key="heading">
          <h1>Statistics</h1>
          ${choices(by, days)}
        </div>
        ${chartsPanel(byDay ?? [], byAgent ?? [], samples.all())} ${tablePanel(rows ?? [], by, given.page)}
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

function chartsPanel(
  byDay: readonly StatisticsRow[],
  byAgent: readonly StatisticsRow[],
  samples: readonly ServiceSample[],
): Html {
  const days = byDay.toReversed();
  const dayLabel = (day: string) => day.slice(5);
  return panel({ id: 'charts', title: 'Charts', wide: true }, [
    html`<div class="charts">
      ${barChart(
        {
          id: 'outcomes',
          title: 'Outcomes per day',
          label: String,
          text: days.map((row) => `${row.key}: ${outcomesText(row)}`).join('; '),
          legend: [
            ['good', 'succeeded'],
            ['bad', 'failed or blocked'],
            ['plain', 'other'],
          ],
        },
        days.map((row) => {
          const [good, bad] = [countOf(row, GOOD), countOf(row, BAD)];
          const parts = [
            { tone: 'good', value: good },
            { tone: 'bad', value: bad },
            { tone: 'plain', value: row.runs - good - bad },
          ];
          return { label: dayLabel(row.key), parts };
        }),
      )}
      ${sumChart('cost', 'Cost per day', days, (row) => row.costUsd, moneyText, dayLabel)}
      ${sumChart('tokens', 'Tokens per day', days, (row) => row.tokens.totalTokens, countText, dayLabel)}
      ${sumChart(
        'agent-tokens',
        'Tokens by agent',
        byAgent,
        (row) => row.tokens.totalTokens,
        countText,
        (key) => key,
      )}
      ${sumChart(
        'agent-cost',
        'Cost by agent',
        byAgent,
        (row) => row.costUsd,
        moneyText,
        (key) => key,
      )}
      ${sampleCharts(samples)}
    </div>`,
  ]);
}

function sumChart(
  id: string,
  title: string,
  rows: readonly StatisticsRow[],
  value: (row: StatisticsRow) => number,
  label: (value: number) => string,
  name: (key: string) => string,
): Html {
  const text = rows.map((row) => `${row.key}: ${label(value(row))}`).join('; ');
  return barChart(
    { id, title, text, label },
    rows.map((row) => ({ label: name(row.key), parts: [{ tone: 'live', value: value(row) }] })),
  );
}

function sampleCharts(samples: readonly ServiceSample[]): readonly Html[] {
  const failures = samples.filter(({ failed }) => failed);
  const last = samples.at(-1);
  const slowest = Math.max(0, ...samples.map(({ pollMs }) => pollMs));
  return [
    lineChart(
      {
        id: 'sessions',
        title: 'Sessions since start',
        label: (value) => String(Math.round(value)),
        text: last === undefined ? '' : `now ${last.running} running and ${last.retrying} waiting`,
        legend: [
          ['live', 'running'],
          ['warn', 'waiting'],
        ],
      },
      [
        { tone: 'live', points: samples.map(({ at, running }) => ({ at, value: running })) },
        { tone: 'warn', points: samples.map(({ at, retrying }) => ({ at, value: retrying })) },
      ],
    ),
    lineChart(
      {
        id: 'polls',
        title: 'Polls since start',
        label: (value) => `${Math.round(value)} ms`,
        text: `${samples.length} polls, the slowest took ${Math.round(slowest)} ms, ${failures.length} failed`,
        legend: [
          ['live', 'duration'],
          ['bad', 'failed'],
        ],
      },
      [{ tone: 'live', points: samples.map(({ at, pollMs }) => ({ at, value: pollMs })) }],
      failures.map(({ at }) => at),
    ),
  ];
}

function tablePanel(rows: readonly StatisticsRow[], by: StatisticsBy, page: string | undefined): Html {
  const columns: readonly Column<StatisticsRow>[] = [
    {
      label: `${by.charAt(0).toUpperCase()}${by.slice(1)}`,
      cell: ({ key }) =>
        by === 'issue'
          ? html`<a class="issue" href="${issueHref(key)}"><bdi>${key}</bdi></a>`
          : html`<bdi>${key === '' ? 'none' : key}</bdi>`,
    },
    { label: 'Runs', fit: 'figure', cell: (row) => row.runs },
    { label: 'Outcomes', cell: outcomesText },
    { label: 'Time', fit: 'figure', cell: (row) => durationText(row.seconds * 1000) },
    { label: 'Longest', fit: 'figure', cell: (row) => durationText(row.longestSeconds * 1000) },
    { label: 'Tokens', fit: 'figure', cell: (row) => countText(row.tokens.totalTokens) },
    { label: 'Cost', fit: 'figure', cell: (row) => moneyText(row.costUsd) },
  ];
  const number = Math.max(1, Number(/^\d{1,6}$/.exec(page ?? '')?.[0] ?? 1));
  return panel(
    { id: 'numbers', title: `By ${by}`, count: rows.length, wide: true },
    table({
      columns,
      rows,
      key: ({ key }) => `row-${key}`,
      page: { number, size: PAGE_SIZE, link: (next) => `?by=${by}&page=${next}` },
      empty: 'No run in this time.',
    }),
  );
}

function countOf({ outcomes }: StatisticsRow, wanted: readonly RunStatus[]): number {
  return wanted.reduce((sum, status) => sum + (outcomes[status] ?? 0), 0);
}

function outcomesText({ outcomes }: StatisticsRow): string {
  return Object.entries(outcomes)
    .map(([status, count]) => `${count} ${wordsOf(status)}`)
    .join(', ');
}
