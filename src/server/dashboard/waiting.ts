import { shownState } from '../../domain/model/issue.ts';
import type { Parked } from '../../domain/model/claim.ts';
import { SHOWN_ELSEWHERE, type Hold, type HoldReason } from '../../domain/model/hold.ts';
import { issueArgument } from '../../domain/model/issue-name.ts';
import { problemOf } from '../../domain/model/watch.ts';
import type { Snapshot } from '../../domain/views/snapshot.ts';
import type { ReactionView, WatchView } from '../../domain/views/watch-view.ts';
import { issueActions } from './actions.ts';
import { naturalOrder, selectRows, type BoardQuery } from './board-query.ts';
import { wordsOf } from './format.ts';
import { html, type Html, type TemplatePart } from './html.ts';
import { chip, clock, foldedText, isLink, issueCell, shownIdentifier, panel, table, type Column } from './parts.ts';
import { pollText } from './summary.ts';
import { foundText, NOT_FOUND } from './work.ts';

const PAGE_SIZE = 50;

export function parkedPanel({ parked, generatedAt: now }: Snapshot, query: BoardQuery): Html {
  const rows = selectRows(parked, query, (row) => ({ ...row.issue, more: [wordsOf(row.reason), row.detail], at: row.parkedAt }));
  const columns: readonly Column<Parked>[] = [
    { label: 'Issue', cell: ({ issue }) => issueCell(issue) },
    { label: 'Reason', onPhone: true, cell: parkedReason },
    { label: 'Parked', style: 'figure', cell: (row) => clock('ago', row.parkedAt, now) },
    { label: 'Actions', style: 'act', cell: ({ issue }) => issueActions(['unpark'], issue.identifier, shownIdentifier(issue)) },
  ];
  return panel(
    {
      id: 'parked',
      title: 'Needs a person',
      count: parked.length,
      wide: true,
      aside: foundText(rows, parked) || (parked.length > 0 && 'A new tracker state releases an issue too.'),
    },
    table({
      columns,
      rows,
      key: (row) => `parked-${row.reason}-${row.issue.id}`,
      page: { number: query.page('parked'), size: PAGE_SIZE, link: (page) => `${query.link({ parked: page })}#parked` },
      empty: parked.length > 0 ? NOT_FOUND : 'No issue waits for a person.',
    }),
  );
}

export function holdsPanel(snapshot: Snapshot, query: BoardQuery): Html {
  // One that is due and held stands in the retry queue.
  const claimed = new Set([...snapshot.running, ...snapshot.retrying].map(({ issueId }) => issueId));
  const holds = snapshot.holds.filter(({ reason, issue }) => !SHOWN_ELSEWHERE.has(reason) && !claimed.has(issue.id));
  const sorted = holds.toSorted((a, b) => naturalOrder(a.issue.identifier, b.issue.identifier));
  const rows = selectRows(sorted, query, (row) => ({ ...row.issue, more: [wordsOf(row.reason), row.detail], at: row.since }));
  const columns: readonly Column<Hold>[] = [
    { label: 'Issue', cell: ({ issue }) => issueCell(issue) },
    { label: 'State', style: 'short', onTablet: false, cell: ({ issue }) => chip('plain', shownState(issue)) },
    {
      label: 'Reason',
      onPhone: true,
      cell: (row) => [chip('plain', wordsOf(row.reason)), foldedText(unrepeated(row), `hold-detail-${row.issue.id}`)],
    },
    { label: 'Since', style: 'figure', cell: (row) => clock('ago', row.since, snapshot.generatedAt) },
  ];
  const wide = snapshot.watches.length === 0;
  return panel({ id: 'holds', title: 'Not dispatched, and why', count: holds.length, wide, aside: foundText(rows, holds) }, [
    reasonCounts(holds),
    table({
      columns,
      rows,
      key: (row) => `hold-${row.issue.id}`,
      page: { number: query.page('holds'), size: PAGE_SIZE, link: (page) => `${query.link({ holds: page })}#holds` },
      empty: holds.length > 0 ? NOT_FOUND : noHolds(snapshot),
    }),
  ]);
}

/** Nothing to show when no merge request is watched: then reactions are most likely off. */
export function mergeRequestPanel({ watches, generatedAt: now }: Snapshot, query: BoardQuery): TemplatePart {
  if (watches.length === 0) return null;
  const rows = selectRows(watches, query, (row) => ({
    ...row.issue,
    more: [row.mergeRequest.branch, `#${row.mergeRequest.number}`],
    at: row.armedAt,
  }));
  const columns: readonly Column<WatchView>[] = [
    { label: 'Issue', cell: ({ issue }) => issueCell(issue) },
    { label: 'Merge request', onPhone: true, cell: mergeRequestCell },
    { label: 'Reactions', cell: (row) => reactionList(row, now) },
  ];
  return panel(
    { id: 'merge-requests', title: 'Watched merge requests', count: watches.length, aside: foundText(rows, watches) },
    table({
      columns,
      rows,
      key: (row) => `watch-${row.issue.id}`,
      page: {
        number: query.page('merge-requests'),
        size: PAGE_SIZE,
        link: (page) => `${query.link({ 'merge-requests': page })}#merge-requests`,
      },
      empty: NOT_FOUND,
    }),
  );
}

/** The chip before it has said the reason already. */
function unrepeated({ reason, detail }: Hold): string {
  const said = `${wordsOf(reason)} `;
  return detail.startsWith(said) ? detail.slice(said.length) : detail;
}

function parkedReason({ issue, reason, detail }: Parked): Html {
  return html`${chip('warn', wordsOf(reason))}${foldedText(detail, `parked-detail-${reason}-${issue.id}`)}
    <p class="release">Release: <code class="command">foray unpark ${issueArgument(issue.identifier)}</code></p>`;
}

function reasonCounts(holds: readonly Hold[]): TemplatePart {
  const counts = new Map<HoldReason, number>();
  for (const { reason } of holds) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  if (counts.size < 2) return null;
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return html`<ul class="reasons">
    ${sorted.map(([reason, count]) => html`<li data-key="reason-${reason}">${wordsOf(reason)} <b>${count}</b></li>`)}
  </ul>`;
}

function noHolds(snapshot: Snapshot): TemplatePart {
  const { last, nextAt } = snapshot.poll;
  if (nextAt === null) return 'What is kept back, and why, is known to the leader alone: see its board.';
  if (last === null) return html`No poll has finished yet. ${pollText(snapshot)}`;
  if (last.error !== null) return html`The last poll failed, so nothing is known of new issues. ${pollText(snapshot)}`;
  if (last.candidates === 0)
    return html`The last poll found no issue in an active state${matching(snapshot)}. ${pollText(snapshot)}`;
  return html`No other issue of the last poll is kept back: each one runs, waits or is parked above. ${pollText(snapshot)}`;
}

function matching({ isFiltered }: Snapshot): string {
  return isFiltered ? ' that matches tracker.query_filter' : '';
}

export function mergeRequestCell(watch: WatchView): Html {
  const { mergeRequest, reading } = watch;
  const problem = problemOf(watch);
  const { owner, repo, number, branch, sha } = mergeRequest;
  const name = html`<span><bdi>${owner}/${repo}</bdi> <b>#${number}</b></span>`;
  const url = reading?.url ?? '';
  return html`${isLink(url) ? html`<a href="${url}">${name}</a>` : name}
    <span class="sub"><bdi>${branch}</bdi> <code>${(reading?.headSha || sha).slice(0, 8)}</code></span>
    ${reading && html`<span class="facts-line">${readingChips(reading)}</span>`}
    ${problem && html`<span class="sub" data-tone="bad">${problem}</span>`}`;
}

/** What the last look found, leaving out what was not looked at. */
function readingChips({ draft, ci, decision, mergeability, merged }: NonNullable<WatchView['reading']>): readonly Html[] {
  const facts: readonly (readonly [tone: string, text: string])[] = [
    ['good', merged ? 'merged' : ''],
    ['plain', draft ? 'draft' : ''],
    [FACT_TONES[ci] ?? 'plain', ci && `CI ${ci}`],
    [FACT_TONES[decision] ?? 'plain', decision === 'NOT_REQUIRED' ? 'no review needed' : decision.toLowerCase()],
    [FACT_TONES[mergeability] ?? 'plain', mergeability],
  ];
  return facts.filter(([, text]) => text !== '').map(([tone, text]) => chip(tone, wordsOf(text)));
}

const FACT_TONES: Readonly<Record<string, string>> = {
  success: 'good',
  failing: 'bad',
  pending: 'live',
  APPROVED: 'good',
  CHANGES_REQUESTED: 'bad',
  clean: 'good',
  dirty: 'bad',
  blocked: 'warn',
  unstable: 'warn',
};

export function reactionList({ issue, reactions }: WatchView, now: number): Html {
  return html`<ul class="reactions">
    ${Object.entries(reactions).map(([kind, progress]) => reactionItem(`${issue.id}-${kind}`, kind, progress, now))}
  </ul>`;
}

function reactionItem(key: string, kind: string, { used, escalated, waitingFor, nextAt }: ReactionView, now: number): Html {
  return html`<li data-key="reaction-${key}">
    <b>${wordsOf(kind)}</b> ${escalated && chip('bad', 'escalated')} <bdi>waits for ${waitingFor}</bdi>
    <span class="quiet"
      >${used > 0 && `· ${used} used `}${nextAt !== null && html`· next check ${clock('until', nextAt, now)}`}</span
    >
  </li>`;
}
