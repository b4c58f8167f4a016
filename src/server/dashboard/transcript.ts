import type { TokenUsage } from '../../domain/model/agent-event.ts';
import type { RunEvent } from '../../domain/model/run.ts';

/** One row of a run's transcript. A tool call is one row from its start to its end. */
export interface TranscriptRow {
  /** Counted from the run's first event, also when that is no longer kept: a row keeps its number. */
  readonly number: number;
  readonly at: number;
  readonly content: RowContent;
}

export type RowContent =
  | { readonly kind: 'turn'; readonly turn: number; readonly prompt: string }
  | { readonly kind: 'message'; readonly text: string }
  | Call
  | { readonly kind: 'usage'; readonly tokens: TokenUsage; readonly costUsd: number | null }
  | { readonly kind: 'note'; readonly type: string; readonly text: string };

export interface Call {
  readonly kind: 'call';
  readonly name: string;
  readonly input: string;
  readonly state: 'open' | 'ok' | 'failed';
  readonly durationMs: number | null;
  readonly output: string;
}

/** Rows of the recorded events, oldest first. A call that is still open when its run has ended was cut short. */
export function transcriptOf(events: readonly RunEvent[]): readonly TranscriptRow[] {
  const rows: TranscriptRow[] = [];
  /** Where the open calls stand, by tool id. */
  const open = new Map<string, number>();
  let number = 0;
  for (const event of events) {
    // It stands for the last of those that were left out.
    if (event.details?.kind === 'left-out') number = event.details.events - 1;
    const started = event.details?.kind === 'result' ? open.get(event.details.toolId) : undefined;
    const content = contentOf(event);
    if (started !== undefined && event.details?.kind === 'result') {
      const row = rows[started];
      open.delete(event.details.toolId);
      if (row !== undefined) rows[started] = { ...row, content };
    } else {
      if (event.details?.kind === 'call') open.set(event.details.toolId, rows.length);
      rows.push({ number, at: event.at, content });
    }
    number += 1;
  }
  return rows;
}

function contentOf({ type, text, details }: RunEvent): RowContent {
  switch (details?.kind) {
    case 'turn':
      if (type !== 'turn_started') break;
      return { kind: 'turn', turn: details.turn, prompt: details.prompt ?? '' };
    case 'call':
      return { kind: 'call', name: details.name, input: details.input, state: 'open', durationMs: null, output: '' };
    case 'result':
      return {
        kind: 'call',
        name: details.name,
        input: details.input,
        state: details.ok ? 'ok' : 'failed',
        durationMs: details.durationMs,
        output: details.output,
      };
    case 'usage':
      return { kind: 'usage', tokens: details.tokens, costUsd: details.costUsd };
    case 'left-out':
    case undefined:
  }
  return type === 'message' ? { kind: 'message', text } : { kind: 'note', type, text };
}

/** Which rows the reader asked for; all of it lives in the URL. */
export interface TranscriptQuery {
  readonly search: string;
  readonly failuresOnly: boolean;
  /** Only rows with a smaller number, the latest of them. */
  readonly before: number | null;
  /** Only rows with a larger number, the earliest of them. */
  readonly after: number | null;
}

export const ROWS_SHOWN = 150;

export function transcriptQuery(given: Readonly<Record<string, string>>): TranscriptQuery {
  return {
    search: (given.q ?? '').trim().slice(0, 200),
    failuresOnly: given.show === 'failures',
    before: numberOf(given.before),
    after: numberOf(given.after),
  };
}

export interface TranscriptPart {
  readonly rows: readonly TranscriptRow[];
  /** How many rows that were asked for come before these. */
  readonly earlier: number;
  readonly later: number;
}

/** The part of the transcript to show: the end unless a place is named. */
export function selectPart(all: readonly TranscriptRow[], query: TranscriptQuery): TranscriptPart {
  const found = all.filter(({ content }) => isWanted(content, query));
  const { before, after } = query;
  if (after !== null) {
    const from = found.findIndex(({ number }) => number > after);
    const start = from === -1 ? found.length : from;
    const rows = found.slice(start, start + 2 * ROWS_SHOWN);
    return { rows, earlier: start, later: found.length - start - rows.length };
  }
  const to = before === null ? found.length : found.findLastIndex(({ number }) => number < before) + 1;
  const start = Math.max(0, to - ROWS_SHOWN);
  return { rows: found.slice(start, to), earlier: start, later: found.length - to };
}

export function isFailure(content: RowContent): boolean {
  return content.kind === 'call' && content.state === 'failed';
}

function isWanted(content: RowContent, { search, failuresOnly }: TranscriptQuery): boolean {
  if (failuresOnly && !isFailure(content)) return false;
  if (search === '') return true;
  const wanted = search.toLowerCase();
  return textsOf(content).some((text) => text.toLowerCase().includes(wanted));
}

function textsOf(content: RowContent): readonly string[] {
  switch (content.kind) {
    case 'turn':
      return [`turn ${content.turn}`, content.prompt];
    case 'message':
      return [content.text];
    case 'call':
      return [content.name, content.input, content.output];
    case 'usage':
      return [];
    case 'note':
      return [content.type, content.text];
  }
}

function numberOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : null;
}
