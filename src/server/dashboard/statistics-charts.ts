import { costText, NO_COST } from '../../domain/model/cost.ts';
import type { PollSample } from '../../domain/views/chronicle.ts';
import type { Quota } from '../../domain/model/quota.ts';
import type { RunStatus } from '../../domain/model/run.ts';
import type { StatisticsRow } from '../../ports/store.ts';
import { barChart, lineChart } from './charts.ts';
import { countText, moneyText, quotaText, wordsOf } from './format.ts';
import { html, type Html } from './html.ts';
import { panel } from './parts.ts';
import { dayOf } from './past.ts';

const GOOD: readonly RunStatus[] = ['succeeded'];
const BAD: readonly RunStatus[] = ['failed', 'budget_stopped', 'blocked'];
/** One for each series of a chart; those beyond look alike. */
const TONES = ['live', 'good', 'warn', 'plain'] as const;

/** What the runs of one agent kind come to on each day. */
export interface AgentDays {
  readonly agent: string;
  readonly days: readonly StatisticsRow[];
}

export interface Charted {
  /** The first and the last moment that are looked at. */
  readonly since: number;
  readonly now: number;
  readonly byDay: readonly StatisticsRow[];
  readonly agents: readonly AgentDays[];
  readonly samples: readonly PollSample[];
  readonly quotas: readonly Quota[];
}

/** What the service did and how it fared, drawn. */
export function chartsPanel({ since, now, byDay, agents, samples, quotas }: Charted): Html {
  const days = everyDay(since, now, byDay);
  return panel({ id: 'charts', title: 'Charts', wide: true }, [
    html`<div class="charts">
      ${outcomesChart(days)}
      ${agentChart({ id: 'tokens', title: 'Tokens by agent and day', label: countText }, agents, days, TOKENS)}
      ${agentChart({ id: 'cost', title: 'Cost by agent and day', label: moneyText }, agents, days, COST)}
      ${sessionsChart(samples)} ${pollsChart(samples)} ${quotaChart(samples, quotas)}
    </div>`,
  ]);
}

const DAY_MS = 86_400_000;
const NO_TOKENS = { inputTokens: 0, outputTokens: 0, totalTokens: 0, cacheReadTokens: 0 };

/** Oldest first, days without a run included. */
function everyDay(since: number, now: number, rows: readonly StatisticsRow[]): readonly StatisticsRow[] {
  const known = new Map(rows.map((row) => [row.key, row]));
  const first = Math.floor(since / DAY_MS);
  return Array.from({ length: Math.floor(now / DAY_MS) - first + 1 }, (_, index) => {
    const key = dayOf((first + index) * DAY_MS);
    return known.get(key) ?? noRuns(key);
  });
}

function noRuns(key: string): StatisticsRow {
  return { key, runs: 0, outcomes: {}, seconds: 0, longestSeconds: 0, tokens: NO_TOKENS, ...NO_COST };
}

function hasRuns({ runs }: StatisticsRow): boolean {
  return runs > 0;
}

function outcomesChart(days: readonly StatisticsRow[]): Html {
  return barChart(
    {
      id: 'outcomes',
      title: 'Outcomes per day',
      label: String,
      text: days
        .filter(hasRuns)
        .map((row) => `${row.key}: ${outcomesText(row)}`)
        .join('; '),
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
  );
}

function countOf({ outcomes }: StatisticsRow, wanted: readonly RunStatus[]): number {
  return wanted.reduce((sum, status) => sum + (outcomes[status] ?? 0), 0);
}

/** `3 succeeded, 1 failed` */
export function outcomesText({ outcomes }: StatisticsRow): string {
  return Object.entries(outcomes)
    .map(([status, count]) => `${count} ${wordsOf(status)}`)
    .join(', ');
}

/** One bar a day, with a part for each agent. */
function agentChart(
  frame: { readonly id: string; readonly title: string; readonly label: (value: number) => string },
  agents: readonly AgentDays[],
  days: readonly StatisticsRow[],
  { value, text }: Figure,
): Html {
  const of = ({ days: own }: AgentDays, day: string): StatisticsRow => own.find(({ key }) => key === day) ?? noRuns(day);
  const spoken = (day: string) => agents.map((one) => `${one.agent} ${text(of(one, day))}`).join(', ');
  return barChart(
    {
      ...frame,
      text: days
        .filter(hasRuns)
        .map(({ key }) => `${key}: ${spoken(key)}`)
        .join('; '),
      legend: agents.map(({ agent }, index) => [toneAt(index), agent] as const),
    },
    days.map(({ key }) => ({
      label: dayLabel(key),
      parts: agents.map((one, index) => ({ tone: toneAt(index), value: value(of(one, key)) })),
    })),
  );
}

function toneAt(index: number): string {
  return TONES[index] ?? 'plain';
}

/** What is drawn of the runs of a day, and what is said of them. */
interface Figure {
  readonly value: (row: StatisticsRow) => number;
  readonly text: (row: StatisticsRow) => string;
}

const TOKENS: Figure = { value: (row) => row.tokens.totalTokens, text: (row) => countText(row.tokens.totalTokens) };
const COST: Figure = { value: (row) => row.costUsd, text: (row) => costText(row, moneyText) };

function dayLabel(day: string): string {
  return day.slice(5);
}

function sessionsChart(samples: readonly PollSample[]): Html {
  const last = samples.at(-1);
  return lineChart(
    {
      id: 'sessions',
      title: 'Sessions',
      label: (value) => String(Math.round(value)),
      text: last === undefined ? '' : `at the last poll ${last.running} running and ${last.retrying} waiting`,
      legend: [
        ['live', 'running'],
        ['warn', 'waiting'],
      ],
    },
    [
      { tone: 'live', points: samples.map(({ at, running }) => ({ at, value: running })) },
      { tone: 'warn', points: samples.map(({ at, retrying }) => ({ at, value: retrying })) },
    ],
  );
}

function pollsChart(samples: readonly PollSample[]): Html {
  const polls = samples.reduce((sum, sample) => sum + sample.polls, 0);
  const failed = samples.reduce((sum, sample) => sum + sample.failed, 0);
  const slowest = Math.max(0, ...samples.map(({ pollMs }) => pollMs));
  return lineChart(
    {
      id: 'polls',
      title: 'Polls',
      label: (value) => (value < 1000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`),
      text: `${polls} polls, the slowest took ${Math.round(slowest)} ms, ${failed} failed`,
      legend: [
        ['live', 'duration'],
        ['bad', 'failed'],
      ],
    },
    [{ tone: 'live', points: samples.map(({ at, pollMs }) => ({ at, value: pollMs })) }],
    samples.filter((sample) => sample.failed > 0).map(({ at }) => at),
  );
}

/** In percent of each budget, so that small and large ones can be read together. */
function quotaChart(samples: readonly PollSample[], quotas: readonly Quota[]): Html {
  const measured = quotas.flatMap(({ resource, limit }) => (limit === null ? [] : [{ resource, limit }]));
  return lineChart(
    {
      id: 'quota',
      title: "Left of the tracker's quota",
      label: (value) => `${Math.round(value)} %`,
      text: quotas.map((quota) => `${quota.resource}: ${quotaText(quota)}`).join('; '),
      legend: measured.map(({ resource }, index) => [toneAt(index), resource] as const),
      max: 100,
      ...(quotas.length === 0 && { empty: 'The tracker does not say how many requests are left.' }),
    },
    measured.map(({ resource, limit }, index) => ({
      tone: toneAt(index),
      points: samples.flatMap(({ at, left }) => {
        const value = left[resource];
        return value === undefined ? [] : [{ at, value: Math.min(100, (value / limit) * 100) }];
      }),
    })),
  );
}
