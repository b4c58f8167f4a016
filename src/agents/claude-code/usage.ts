import type { AgentEvent } from '../../domain/agent-event.ts';
import type { Figures } from './parse.ts';

/** What one result says of its whole process. */
export interface ResultFigures {
  readonly figures: Figures | null;
  readonly costUsd: number | null;
  readonly apiMs: number | null;
}

/**
 * What a run has spent, over all its processes. While a process runs, the figures of its messages count; its result
 * settles them. Whichever is higher stands, for a process that is interrupted reports nothing in the end.
 */
export interface UsageBook {
  /** One event of a message; several events may repeat it with growing figures. */
  message(id: string, model: string, figures: Figures | null): void;
  /** A result counts its process from the start, so a second one replaces the first. */
  result(figures: ResultFigures): void;
  /** The process is over: what it spent is kept, and the next one counts from nothing. */
  endProcess(): void;
  /** Everything so far; null while nothing was reported, which is not the same as nothing spent. */
  event(): Extract<AgentEvent, { type: 'usage' }> | null;
}

const NOTHING: Figures = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
/** Messages of which the last figures are remembered. More are never under way at once. */
const REMEMBERED = 512;
const MOST_MODELS = 50;

export function createUsageBook(): UsageBook {
  const seen = new Map<string, Figures>();
  const byModel = new Map<string, number>();
  let requests = 0;
  let past = NOTHING;
  let [pastCost, pastApiMs] = [0, 0];
  let [knowsCost, knowsApiMs] = [false, false];
  let fromMessages = NOTHING;
  let fromResult = NOTHING;
  let [cost, apiMs] = [0, 0];

  function countRequest(model: string): void {
    requests += 1;
    if (model !== '' && (byModel.has(model) || byModel.size < MOST_MODELS)) byModel.set(model, (byModel.get(model) ?? 0) + 1);
  }

  function remember(id: string, figures: Figures): void {
    seen.delete(id);
    seen.set(id, figures);
    if (seen.size > REMEMBERED) seen.delete(seen.keys().next().value ?? '');
  }

  return {
    message(id, model, figures) {
      const before = seen.get(id);
      if (before === undefined) countRequest(model);
      const known = before ?? NOTHING;
      const now = merge(Math.max, known, figures ?? NOTHING);
      fromMessages = merge((sum, grown) => sum + grown, fromMessages, minus(now, known));
      remember(id, now);
    },
    result(result) {
      fromResult = merge(Math.max, fromResult, result.figures ?? NOTHING);
      cost = Math.max(cost, result.costUsd ?? 0);
      apiMs = Math.max(apiMs, result.apiMs ?? 0);
      knowsCost ||= result.costUsd !== null;
      knowsApiMs ||= result.apiMs !== null;
    },
    endProcess() {
      past = merge((sum, more) => sum + more, past, merge(Math.max, fromMessages, fromResult));
      pastCost += cost;
      pastApiMs += apiMs;
      [fromMessages, fromResult, cost, apiMs] = [NOTHING, NOTHING, 0, 0];
      seen.clear();
    },
    event() {
      const total = merge((sum, more) => sum + more, past, merge(Math.max, fromMessages, fromResult));
      const inputTokens = total.input + total.cacheRead + total.cacheWrite;
      const totalTokens = inputTokens + total.output;
      if (totalTokens === 0) return null;
      return {
        type: 'usage',
        tokens: { inputTokens, outputTokens: total.output, totalTokens, cacheReadTokens: total.cacheRead },
        ...(requests > 0 ? { requests, requestsByModel: Object.fromEntries(byModel) } : {}),
        ...(knowsApiMs ? { apiMs: pastApiMs + apiMs } : {}),
        ...(knowsCost ? { costUsd: pastCost + cost } : {}),
      };
    },
  };
}

function merge(how: (a: number, b: number) => number, a: Figures, b: Figures): Figures {
  return {
    input: how(a.input, b.input),
    output: how(a.output, b.output),
    cacheRead: how(a.cacheRead, b.cacheRead),
    cacheWrite: how(a.cacheWrite, b.cacheWrite),
  };
}

function minus(a: Figures, b: Figures): Figures {
  return merge((left, right) => left - right, a, b);
}
