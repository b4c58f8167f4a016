import type { AgentEvent } from '../../domain/model/agent-event.ts';
import { createModelRequests, keyOf } from '../shared/remembered.ts';
import type { Figures } from './parse.ts';

/** What one result says of its whole process; of a resumed conversation newer versions say it of all its processes. */
export interface ResultFigures {
  /** Sub-agents included. */
  readonly figures: Figures | null;
  /** Of this process in every version, without sub-agents. */
  readonly own: Figures | null;
  readonly costUsd: number | null;
  readonly apiMs: number | null;
}

/**
 * What a run has spent, over all its processes. While a process runs, the figures of its messages count; its result
 * settles them. Whichever is higher stands, for a process that is interrupted reports nothing in the end.
 */
export interface Usage {
  /** One event of a message; several events may repeat it with growing figures. */
  message(id: string, model: string, figures: Figures | null): void;
  /** A result counts its process from the start, so a second one replaces the first. */
  result(figures: ResultFigures): void;
  /** The process is over: what it spent is kept, and the next one counts from nothing. */
  endProcess(): void;
  /** The next process opens a new conversation. */
  beginConversation(): void;
  /** Everything so far; null while nothing was reported, which is not the same as nothing spent. */
  event(): Extract<AgentEvent, { type: 'usage' }> | null;
}

const NOTHING: Figures = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
/** Messages of which the last figures are remembered. More are never under way at once. */
const REMEMBERED = 512;

/** With `isResumed` the first process goes on with a conversation of which it is not known what it had spent. */
export function createUsage(isResumed = false): Usage {
  const messages = createMessageFigures();
  let past = NOTHING;
  let [pastCost, pastApiMs] = [0, 0];
  let [knowsCost, knowsApiMs] = [false, false];
  let fromResult = NOTHING;
  let [cost, apiMs] = [0, 0];
  /** The last result of the process before, and of this one. Null for unknown. */
  let before: ResultFigures | null = isResumed ? null : NO_RESULT;
  let last: ResultFigures | null = null;
  const total = (): Figures => merge(add, past, merge(Math.max, messages.figures(), fromResult));

  return {
    message: messages.add,
    result(result) {
      last = result;
      const share = shareOf(result, before, messages.figures());
      fromResult = merge(Math.max, fromResult, share.figures);
      cost = Math.max(cost, share.costUsd);
      apiMs = Math.max(apiMs, share.apiMs);
      knowsCost ||= result.costUsd !== null;
      knowsApiMs ||= result.apiMs !== null;
    },
    endProcess() {
      past = total();
      pastCost += cost;
      pastApiMs += apiMs;
      [fromResult, cost, apiMs] = [NOTHING, 0, 0];
      [before, last] = [last, null];
      messages.endProcess();
    },
    beginConversation: () => void (before = NO_RESULT),
    event() {
      const { input, output, cacheRead, cacheWrite } = total();
      const inputTokens = input + cacheRead + cacheWrite;
      const totalTokens = inputTokens + output;
      if (totalTokens === 0) return null;
      return {
        type: 'usage',
        tokens: { inputTokens, outputTokens: output, totalTokens, cacheReadTokens: cacheRead },
        ...messages.requests(),
        ...(knowsApiMs ? { apiMs: pastApiMs + apiMs } : {}),
        ...(knowsCost ? { costUsd: pastCost + cost } : {}),
      };
    },
  };
}

interface MessageFigures extends Pick<Usage, 'endProcess'> {
  readonly add: Usage['message'];
  /** Of the process that runs. */
  figures(): Figures;
  /** Of all processes; empty for none. */
  requests(): { readonly requests?: number; readonly requestsByModel?: Readonly<Record<string, number>> };
}

function createMessageFigures(): MessageFigures {
  const seen = new Map<string, Figures>();
  const models = createModelRequests();
  let requests = 0;
  let figures = NOTHING;

  function countRequest(model: string): void {
    requests += 1;
    models.count(model);
  }

  function remember(key: string, now: Figures): void {
    seen.delete(key);
    seen.set(key, now);
    if (seen.size > REMEMBERED) seen.delete(seen.keys().next().value ?? '');
  }

  return {
    add(id, model, told) {
      const key = keyOf(id);
      const before = seen.get(key);
      if (before === undefined) countRequest(model);
      const known = before ?? NOTHING;
      const now = merge(Math.max, known, told ?? NOTHING);
      figures = merge(add, figures, minus(now, known));
      remember(key, now);
    },
    figures: () => figures,
    requests: () => (requests > 0 ? { requests, requestsByModel: models.byModel() } : {}),
    endProcess() {
      figures = NOTHING;
      seen.clear();
    },
  };
}

const NO_RESULT: ResultFigures = { figures: NOTHING, own: NOTHING, costUsd: 0, apiMs: 0 };

interface Share {
  readonly figures: Figures;
  readonly costUsd: number;
  readonly apiMs: number;
}

/**
 * The part of a result that this process spent. Claude Code 2.1.197 reports a resumed process alone, 2.1.325 its whole
 * conversation, and neither says which. So the messages tell: what is left without the earlier ones must hold them.
 */
function shareOf(result: ResultFigures, before: ResultFigures | null, messages: Figures): Share {
  const whole = { figures: result.figures ?? NOTHING, costUsd: result.costUsd ?? 0, apiMs: result.apiMs ?? 0 };
  if (before === null) return shareOfUnknown(whole, merge(Math.max, result.own ?? NOTHING, messages));
  const figures = minus(whole.figures, before.figures ?? NOTHING);
  const isWhole = FIGURES.some((key) => figures[key] < messages[key]);
  if (isWhole) return whole;
  return { figures, costUsd: whole.costUsd - (before.costUsd ?? 0), apiMs: whole.apiMs - (before.apiMs ?? 0) };
}

/** Without the earlier ones to compare with, what goes beyond this process is taken for theirs, its cost in proportion. */
function shareOfUnknown(whole: Share, own: Figures): Share {
  const [spent, all] = [totalOf(own), totalOf(whole.figures)];
  if (all <= spent || spent === 0) return whole;
  return { figures: own, costUsd: (whole.costUsd * spent) / all, apiMs: (whole.apiMs * spent) / all };
}

const FIGURES = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;

function totalOf(figures: Figures): number {
  return FIGURES.reduce((sum, key) => sum + figures[key], 0);
}

function merge(how: (a: number, b: number) => number, a: Figures, b: Figures): Figures {
  return {
    input: how(a.input, b.input),
    output: how(a.output, b.output),
    cacheRead: how(a.cacheRead, b.cacheRead),
    cacheWrite: how(a.cacheWrite, b.cacheWrite),
  };
}

function add(a: number, b: number): number {
  return a + b;
}

function minus(a: Figures, b: Figures): Figures {
  return merge((left, right) => left - right, a, b);
}
