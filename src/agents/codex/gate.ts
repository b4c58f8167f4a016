import type { AgentEvent } from '../../domain/model/agent-event.ts';

/** Passes the events of one turn on, in bounded number and size whatever the agent prints. */
export interface EventGate {
  emit(event: AgentEvent): void;
  /** The agent is alive, and says nothing that makes an event. After a long silence that is one. */
  signOfLife(what: string): void;
  /** Hands over what was held back. Nothing passes afterwards. */
  close(): void;
}

export interface GateOptions {
  readonly onEvent: (event: AgentEvent) => void;
  /** Masks secrets. */
  readonly clean: (text: string) => string;
  readonly silenceMs: number;
}

const MAX_TEXT_BYTES = 4096;
const MAX_NAME_LENGTH = 200;
/** Ten a second, of which only the last matters. */
const PAUSE_MS = 100;
const MAX_PER_SECOND = 50;
const MAX_OPEN_TOOLS = 1000;

export function createEventGate({ onEvent, clean, silenceMs }: GateOptions): EventGate {
  let isOpen = true;
  let spokeAt = performance.now();
  let hidden = 0;
  const openTools = new Set<string>();
  const allowance = createAllowance(MAX_PER_SECOND);

  function pass(event: AgentEvent): void {
    if (!isOpen) return;
    spokeAt = performance.now();
    onEvent(fit(event, clean));
  }

  const messages = createLane(pass);
  const usage = createLane(pass);

  /** All but messages and figures: what is too much is counted, not shown. The end of a call passes if its start did. */
  function passRare(event: AgentEvent): void {
    if (event.type === 'tool_ended') {
      if (openTools.delete(short(event.toolId))) pass(event);
    } else if (!allowance.take() || openTools.size >= MAX_OPEN_TOOLS) {
      hidden += 1;
    } else {
      if (event.type === 'tool_started') openTools.add(short(event.toolId));
      pass(event);
    }
  }

  return {
    emit(event) {
      if (event.type === 'message') messages.offer(event);
      else if (event.type === 'usage') usage.offer(event);
      else passRare(event);
    },
    signOfLife(what) {
      if (performance.now() - spokeAt >= silenceMs) pass({ type: 'notice', text: `codex is still at work (${what})` });
    },
    close() {
      messages.flush();
      usage.flush();
      if (hidden > 0) pass({ type: 'notice', text: `${hidden} more events are not shown` });
      isOpen = false;
    },
  };
}

function fit(event: AgentEvent, clean: (text: string) => string): AgentEvent {
  switch (event.type) {
    case 'message':
    case 'notice':
      return { ...event, text: clip(event.text, clean) };
    case 'tool_started':
    case 'tool_ended':
      return { ...event, toolId: short(event.toolId), name: short(event.name) };
    default:
      return event;
  }
}

/** Cleans before it cuts, so that no half of a secret is left at the cut. What it returns is a copy, see `short`. */
function clip(text: string, clean: (text: string) => string): string {
  const bytes = Buffer.from(clean(text.slice(0, 2 * MAX_TEXT_BYTES)), 'utf8');
  if (bytes.length <= MAX_TEXT_BYTES) return bytes.toString('utf8');
  // A character cut in half decodes to U+FFFD: it is left out.
  return `${bytes.toString('utf8', 0, MAX_TEXT_BYTES - 3).replace(/\uFFFD+$/, '')}…`;
}

/** A copy: a mere slice would keep the whole line it came from in memory. */
function short(text: string): string {
  return text.length <= MAX_NAME_LENGTH ? text : Buffer.from(text.slice(0, MAX_NAME_LENGTH)).toString();
}

interface Lane {
  offer(event: AgentEvent): void;
  flush(): void;
}

/** Events of which only the last matters. The first and the last are never lost. */
function createLane(pass: (event: AgentEvent) => void): Lane {
  let waiting: AgentEvent | null = null;
  let timer: NodeJS.Timeout | null = null;

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const event = waiting;
    waiting = null;
    if (event === null) return;
    pass(event);
    timer = setTimeout(flush, PAUSE_MS).unref();
  }

  return {
    offer(event) {
      waiting = event;
      if (timer === null) flush();
    },
    flush() {
      flush();
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}

function createAllowance(perSecond: number): { take(): boolean } {
  let since = performance.now();
  let left = perSecond;
  return {
    take() {
      const now = performance.now();
      if (now - since >= 1000) [since, left] = [now, perSecond];
      left -= 1;
      return left >= 0;
    },
  };
}
