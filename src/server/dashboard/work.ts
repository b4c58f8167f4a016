import type { HoldVerdict } from '../../domain/model/hold.ts';
import type { RunningView } from '../../domain/views/running-view.ts';
import type { RetryView, Snapshot } from '../../domain/views/snapshot.ts';
import { issueActions } from './actions.ts';
import { selectRows, type BoardQuery } from './board-query.ts';
import { countText, exactText, moneyText, wordsOf } from './format.ts';
import { shownState } from '../../domain/model/issue.ts';
import { html, type Html, type TemplatePart } from './html.ts';
import { chip, clock, foldedText, issueCell, shownIdentifier, panel, runHref, table, type Column } from './parts.ts';
import { pollText } from './summary.ts';

const PAGE_SIZE = 50;

export function runningPanel(snapshot: Snapshot, query: BoardQuery): Html {
  const { running, generatedAt: now } = snapshot;
  const rows = selectRows(running, query, (row) => ({
    ...named(row),
    more: [row.state, row.lastMessage, row.modelName ?? ''],
    at: row.startedAt,
  }));
  const columns: readonly Column<RunningView>[] = [
    { label: 'Issue', cell: (row) => issueCell(named(row)) },
    {
      label: 'State',
      style: 'short',
      onTablet: false,
      cell: (row) => [chip('live', shownState(row)), sub(row.host !== null && `on ${row.host}`)],
    },
    { label: 'Turns', style: 'figure', cell: (row) => [row.turnCount, sub(row.attempt > 0 && `attempt ${row.attempt}`)] },
    { label: 'Duration', style: 'figure', onPhone: true, cell: (row) => clock('since', row.startedAt, now) },
    { label: 'Last event', cell: (row) => lastEvent(row, now) },
    { label: 'Tokens', style: 'figure', cell: (row) => [tokensText(row), sessionNote(row)] },
    { label: 'Actions', style: 'act', cell: (row) => issueActions(['stop'], row.issueIdentifier, shownIdentifier(named(row))) },
  ];
  return panel(
    { id: 'running', title: 'Running sessions', count: running.length, wide: true, aside: foundText(rows, running) },
    table({
      columns,
      rows,
      key: (row) => `running-${row.issueId}`,
      page: { number: query.page('running'), size: PAGE_SIZE, link: (page) => `${query.link({ running: page })}#running` },
      empty: running.length > 0 ? NOT_FOUND : html`Nothing runs. ${pollText(snapshot)}`,
    }),
  );
}

export function retryPanel({ retrying, retryHolds, generatedAt: now }: Snapshot, query: BoardQuery): Html {
  const rows = selectRows(retrying, query, (row) => ({ ...named(row), more: [row.error], at: row.dueAt }));
  const columns: readonly Column<RetryView>[] = [
    { label: 'Issue', cell: (row) => issueCell(named(row)) },
    { label: 'Attempt', style: 'figure', cell: (row) => row.attempt },
    { label: 'Due', style: 'figure', onPhone: true, cell: (row) => clock('until', row.dueAt, now) },
    { label: 'Error', cell: (row) => [heldChip(retryHolds.get(row.issueId)), foldedText(row.error, `error-${row.issueId}`)] },
    {
      label: 'Actions',
      style: 'act',
      cell: (row) => issueActions(['retry', 'stop'], row.issueIdentifier, shownIdentifier(named(row))),
    },
  ];
  return panel(
    { id: 'retrying', title: 'Retry queue', count: retrying.length, wide: true, aside: foundText(rows, retrying) },
    table({
      columns,
      rows,
      key: (row) => `retry-${row.issueId}`,
      page: { number: query.page('retrying'), size: PAGE_SIZE, link: (page) => `${query.link({ retrying: page })}#retrying` },
      empty: retrying.length > 0 ? NOT_FOUND : 'No issue waits for another try. One whose run fails comes back here by itself.',
    }),
  );
}

/** Why one that is due does not start. */
function heldChip(held: HoldVerdict | undefined): TemplatePart {
  return held !== undefined && html`<span title="${held.detail}">${chip('warn', wordsOf(held.reason))}</span>`;
}

export const NOT_FOUND = 'Nothing here contains what you look for.';

/** How many of the rows a search left. */
export function foundText(found: readonly unknown[], all: readonly unknown[]): TemplatePart {
  return found.length !== all.length && `${found.length} found`;
}

function named(row: RunningView | RetryView) {
  return { ...row, identifier: row.issueIdentifier };
}

function lastEvent(row: RunningView, now: number): Html {
  return html`${row.stoppedBy !== null && chip('warn', `being stopped by ${row.stoppedBy}`)}
    <a class="event" href="${runHref(row.runId)}" title="what it does now">${wordsOf(row.lastEvent)}</a>
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

/** Its cost, and where there is room its model. */
function sessionNote({ modelName, costUsd }: RunningView): TemplatePart {
  return [
    modelName !== null && html`<span class="sub model" title="${modelName}"><bdi>${modelName}</bdi></span>`,
    sub(costUsd !== null && moneyText(costUsd)),
  ];
}

function sub(text: string | false): TemplatePart {
  return text !== false && text !== '' && html`<span class="sub" title="${text}"><bdi>${text}</bdi></span>`;
}
