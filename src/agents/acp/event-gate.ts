import type { AgentEvent } from '../../domain/model/agent-event.ts';
import { createBucket, type Allowance } from './bucket.ts';
import type { UsageEvent } from './usage.ts';
import { createWords, longestStart } from './words.ts';

/** Passes the events of one turn on, in bounded number and size whatever the agent sends. */
export interface EventGate {
  /** A piece of what the model writes. Pieces are joined: a stream of words is a few events. */
  say(piece: string): void;
  /** The message is complete; what is said next is another one. */
  endMessage(): void;
  /** False when the call is not shown because there are too many; then its end must not be shown either. */
  toolStarted(toolId: string, name: string): boolean;
  toolEnded(toolId: string, name: string, ok: boolean): void;
  usage(event: UsageEvent): void;
  notice(text: string): void;
  /** A sign of life. Shown only when nothing else was for some time. */
  pulse(text: string): void;
  sessionStarted(sessionId: string, model: string | undefined): void;
  /** Hands over what was held back. Nothing passes afterwards. */
  close(): void;
}

const MESSAGES: Allowance = { burst: 5, perSecond: 10 };
const USAGE: Allowance = { burst: 5, perSecond: 1 };
const TOOLS: Allowance = { burst: 50, perSecond: 20 };
const NOTICES: Allowance = { burst: 20, perSecond: 1 };
const PULSE_MS = 5_000;

export interface GateOptions {
  readonly onEvent: (event: AgentEvent) => void;
  /** Takes secrets out of a text. */
  readonly clean: (text: string) => string;
}

export function createEventGate({ onEvent, clean }: GateOptions): EventGate {
  let open = true;
  let passedAt = performance.now();
  const pass = (event: AgentEvent): void => {
    if (!open) return;
    passedAt = performance.now();
    onEvent(event);
  };
  const words = createWords(MESSAGES, (text) => pass({ type: 'message', text: clip(clean(text)) }));
  const figures = createBucket(USAGE);
  const tools = createBucket(TOOLS);
  const notices = createBucket(NOTICES);
  let heldUsage: UsageEvent | null = null;
  let [hiddenTools, hiddenNotices] = [0, 0];

  function notice(text: string): void {
    if (notices.take()) pass({ type: 'notice', text: clip(clean(text)) });
    else hiddenNotices += 1;
  }

  return {
    say: words.add,
    endMessage: words.end,
    toolStarted(toolId, name) {
      words.end();
      if (!tools.take()) {
        hiddenTools += 1;
        return false;
      }
      pass({ type: 'tool_started', toolId: toolId.slice(0, LONGEST_NAME), name: shortName(clean(name)) });
      return true;
    },
    toolEnded(toolId, name, ok) {
      pass({ type: 'tool_ended', toolId: toolId.slice(0, LONGEST_NAME), name: shortName(clean(name)), ok });
    },
    usage(event) {
      heldUsage = figures.take() ? null : event;
      if (heldUsage === null) pass(event);
    },
    notice,
    pulse(text) {
      if (performance.now() - passedAt >= PULSE_MS) notice(text);
    },
    sessionStarted: (sessionId, model) => pass({ type: 'session_started', sessionId, ...(model === undefined ? {} : { model }) }),
    close() {
      words.flush();
      if (heldUsage !== null) pass(heldUsage);
      if (hiddenTools > 0) pass({ type: 'notice', text: `${hiddenTools} more tool calls are not shown` });
      if (hiddenNotices > 0) pass({ type: 'notice', text: `${hiddenNotices} more notices are not shown` });
      open = false;
    },
  };
}

const LONGEST_NAME = 200;

function shortName(name: string): string {
  const line = name.replaceAll(/\s+/g, ' ').trim();
  return line.length > LONGEST_NAME ? `${line.slice(0, LONGEST_NAME - 1)}…` : line;
}

function clip(text: string): string {
  const start = longestStart(text);
  return start.length === text.length ? text : `${start.slice(0, -1)}…`;
}
