import type { AgentEvent } from '../../domain/model/agent-event.ts';
import type { Mask } from '../../lib/http/index.ts';
import { copyOf } from '../../lib/short-text.ts';
import { createJoinedText, longestStart } from './joined-text.ts';
import { createHeld, createLatest, createRateLimit, type Allowance } from './rate-limit.ts';
import { inputLine, maskedStart, outputLines } from './tool-text.ts';

export type UsageEvent = Extract<AgentEvent, { type: 'usage' }>;

/** Passes the events of one turn on: masked, in order, and in bounded number and size whatever the agent prints. */
export interface EventStream {
  sessionStarted(sessionId: string, model: string | null): void;
  /** A whole message of the model. */
  message(text: string): void;
  /** A piece of what the model writes. Pieces are joined until the message ends. */
  messagePart(piece: string): void;
  endMessage(): void;
  /** The first word of a call counts, later ones of the same id do not. */
  toolStarted(call: StartedCall): void;
  /** The end of a call that was started and shown. */
  toolEnded(result: EndedCall): void;
  usage(event: UsageEvent): void;
  notice(text: string): void;
  /** The agent is at work. Passed on only when nothing else was for some time. */
  alive(): void;
  /** Hands over what was held back and ends the calls that are still open. Nothing passes afterwards. */
  close(): void;
}

export interface StartedCall {
  readonly id: string;
  readonly name: string;
  /** Whatever the agent calls the tool with; what is worth a line is picked from it. */
  readonly input?: unknown;
}

export interface EndedCall {
  readonly id: string;
  readonly ok: boolean;
  readonly input?: unknown;
  /** Whatever the tool gave back. */
  readonly output?: unknown;
  readonly durationMs?: number;
}

export interface EventStreamOptions {
  readonly onEvent: (event: AgentEvent) => void;
  /** Takes secrets out of a text. */
  readonly mask: Mask;
  /** Silence after which a sign of life is passed on. */
  readonly aliveMs: number;
}

const MESSAGES: Allowance = { burst: 5, perSecond: 10 };
const USAGE: Allowance = { burst: 5, perSecond: 5 };
const TOOLS: Allowance = { burst: 50, perSecond: 20 };
const NOTICES: Allowance = { burst: 20, perSecond: 1 };
/** Calls under way that are remembered; no agent has more. */
const MOST_OPEN = 1_000;
const LONGEST_NAME = 200;

export function createEventStream({ onEvent, mask, aliveMs }: EventStreamOptions): EventStream {
  let isOpen = true;
  let passedAt = performance.now();
  const pass = (event: AgentEvent): void => {
    if (!isOpen) return;
    passedAt = performance.now();
    onEvent(event);
  };
  const texts = createJoinedText({ allowance: MESSAGES, mask, show: (text) => pass({ type: 'message', text: copyOf(text) }) });
  const figures = createLatest<UsageEvent>(USAGE, (event) => pass(withShownModels(event, mask)));
  const notices = createRateLimit(NOTICES);
  const calls = createCalls(pass, mask);
  let hiddenNotices = 0;

  return {
    sessionStarted(sessionId, model) {
      pass({ type: 'session_started', sessionId, ...(model === null || model === '' ? {} : { model: maskedName(model, mask) }) });
    },
    message(text) {
      texts.end();
      texts.add(text);
      texts.end();
    },
    messagePart: texts.add,
    endMessage: texts.end,
    toolStarted(call) {
      texts.end();
      calls.start(call);
    },
    toolEnded: calls.end,
    usage: figures.offer,
    notice(text) {
      if (notices.take()) pass({ type: 'notice', text: clip(maskedStart(text, 2 * LONGEST_NOTICE, mask)) });
      else hiddenNotices += 1;
    },
    alive() {
      if (performance.now() - passedAt >= aliveMs) pass({ type: 'alive' });
    },
    close() {
      texts.flush();
      calls.close();
      figures.flush();
      if (hiddenNotices > 0) pass({ type: 'notice', text: `${hiddenNotices} more notices are not shown` });
      isOpen = false;
    },
  };
}

const LONGEST_NOTICE = 4_096;

interface Calls {
  start(call: StartedCall): void;
  end(result: EndedCall): void;
  close(): void;
}

/**
 * The tool calls of a turn. One that is not shown because there are too many has no end either. The last of them is shown
 * late if it is still under way then: while a call runs, the watch for stalled sessions waits longer.
 */
function createCalls(pass: (event: AgentEvent) => void, mask: Mask): Calls {
  const limit = createRateLimit(TOOLS);
  const open = new Map<string, { readonly name: string; readonly hasInput: boolean }>();
  let hidden = 0;
  const hasRoom = (): boolean => open.size < MOST_OPEN && limit.take();
  const held = createHeld<StartedCall>(1000 / TOOLS.perSecond, (call) => hasRoom() && show(call));

  function show({ id, name, input }: StartedCall): true {
    const toolId = shortId(id, mask);
    const line = inputLine(input, mask);
    const shown = maskedName(name, mask);
    open.set(toolId, { name: shown, hasInput: line !== '' });
    pass({ type: 'tool_started', toolId, name: shown, ...(line === '' ? {} : { input: line }) });
    return true;
  }

  function hide(): void {
    if (held.drop() !== null) hidden += 1;
  }

  function end(result: EndedCall): void {
    const toolId = shortId(result.id, mask);
    if (open.has(toolId)) return finish(toolId, result);
    if (held.value()?.id === result.id) hide();
  }

  function finish(toolId: string, { ok, input, output, durationMs }: Omit<EndedCall, 'id'>): void {
    const call = open.get(toolId);
    if (call === undefined) return;
    open.delete(toolId);
    const line = call.hasInput ? '' : inputLine(input, mask);
    const lines = outputLines(output, mask);
    pass({
      type: 'tool_ended',
      toolId,
      name: call.name,
      ok,
      ...(line === '' ? {} : { input: line }),
      ...(lines === '' ? {} : { output: lines }),
      ...(durationMs === undefined ? {} : { durationMs }),
    });
  }

  return {
    start(call) {
      if (open.has(shortId(call.id, mask)) || held.value()?.id === call.id) return;
      if (hasRoom()) {
        show(call);
        return;
      }
      hide();
      held.put(call);
    },
    end,
    close() {
      hide();
      for (const toolId of open.keys()) finish(toolId, { ok: false });
      if (hidden > 0) pass({ type: 'notice', text: `${hidden} more tool calls are not shown` });
    },
  };
}

/** The same for the same id. */
function shortId(id: string, mask: Mask): string {
  const shown = mask(id.slice(0, 2 * LONGEST_NAME), id.length > 2 * LONGEST_NAME ? 'end' : null);
  return copyOf(shown.slice(0, LONGEST_NAME));
}

function maskedName(name: string, mask: Mask): string {
  const line = maskedStart(name, 2 * LONGEST_NAME, mask)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return copyOf(line.length > LONGEST_NAME ? `${line.slice(0, LONGEST_NAME - 1)}…` : line);
}

/** Models are named by the agent, and what it names them may be a secret. */
function withShownModels(event: UsageEvent, mask: Mask): UsageEvent {
  if (event.requestsByModel === undefined) return event;
  const shown = new Map<string, number>();
  for (const [model, requests] of Object.entries(event.requestsByModel)) {
    const name = maskedName(model, mask);
    if (name !== '') shown.set(name, (shown.get(name) ?? 0) + requests);
  }
  return { ...event, requestsByModel: Object.fromEntries(shown) };
}

function clip(text: string): string {
  const isWhole = longestStart(text).length === text.length;
  return copyOf(isWhole ? text : `${longestStart(text, ELLIPSIS_BYTES)}…`);
}

const ELLIPSIS_BYTES = Buffer.byteLength('…');
