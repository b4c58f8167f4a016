import type { RetryView, RunningView, Snapshot } from '../../domain/snapshot.ts';
import { countText, exactText, moneyText, wordsOf } from './format.ts';
import { html, type Html, type Value } from './html.ts';
import { chip, clock, foldedText, issueCell, panel, table, type Column } from './parts.ts';
import { pollText } from './summary.ts';

const LIMIT = 100;

export function runningPanel(snapshot: Snapshot): Html {
  const { running, generatedAt: now } = snapshot;
  const columns: readonly Column<RunningView>[] = [
    { label: 'Issue', cell: (row) => issueCell(named(row)) },
    { label: 'State', fit: 'short', cell: (row) => chip('plain', row.state) },
    { label: 'Turns', fit: 'figure', cell: (row) => [row.turnCount, sub(row.attempt > 0 && `attempt ${row.attempt}`)] },
    { label: 'Duration', fit: 'figure', cell: (row) => clock('since', row.startedAt, now) },
    { label: 'Last event', cell: (row) => lastEvent(row, now) },
    { label: 'Tokens', fit: 'figure', cell: (row) => [tokensText(row), sub(sessionNote(row))] },
  ];
  return panel(
    { id: 'running', title: 'Running sessions', count: running.length, wide: true },
    table({
      columns,
      rows: running,
      key: (row) => `running-${row.issueId}`,
      limit: LIMIT,
      json: '/api/v1/state',
      empty: html`Nothing runs. ${pollText(snapshot)}`,
    }),
  );
}

export function retryPanel({ retrying, generatedAt: now }: Snapshot): Html {
  const columns: readonly Column<RetryView>[] = [
    { label: 'Issue', cell: (row) => issueCell(named(row)) },
    { label: 'Attempt', fit: 'figure', cell: (row) => row.attempt },
    { label: 'Due', fit: 'figure', cell: (row) => clock('until', row.dueAt, now) },
    { label: 'Error', cell: (row) => foldedText(row.error, `error-${row.issueId}`) },
  ];
  return panel(
    { id: 'retrying', title: 'Retry queue', count: retrying.length },
    table({
      columns,
      rows: retrying,
      key: (row) => `retry-${row.issueId}`,
      limit: LIMIT,
      json: '/api/v1/state',
      empty: 'No issue waits for another try. One whose run fails comes back here by itself.',
    }),
  );
}

function named(row: RunningView | RetryView) {
  return { ...row, identifier: row.issueIdentifier };
}

function lastEvent(row: RunningView, now: number): Html {
  return html`<span class="event">${wordsOf(row.lastEvent)}</span>
    <span class="quiet">${clock('ago', row.lastEventAt, now)}</span>
    ${row.lastMessage !== '' && html`<span class="sub message" title="${row.lastMessage}"><bdi>${row.lastMessage}</bdi></span>`}`;
}

interface Spending {
  readonly tokens: RunningView['tokens'];
  readonly tokensMeasured: boolean;
}

/** A dash where the agent reports no figures: unknown is not zero. */
export function tokensText({ tokens, tokensMeasured }: Spending): Html {
  if (!tokensMeasured) return html`<span class="quiet" title="no figures reported">–</span>`;
  const detail = `${exactText(tokens.inputTokens)} in, ${exactText(tokens.outputTokens)} out, ${exactText(tokens.cacheReadTokens)} cached`;
  return html`<span title="${detail}">${countText(tokens.totalTokens)}</span>`;
}

function sessionNote({ modelName, costUsd }: RunningView): string {
  return [modelName, costUsd === null ? null : moneyText(costUsd)].filter(Boolean).join(' · ');
}

function sub(text: string | false): Value {
  return text !== false && text !== '' && html`<span class="sub" title="${text}"><bdi>${text}</bdi></span>`;
}
