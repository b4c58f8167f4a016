import type { AgentEvent } from '../../domain/model/agent-event.ts';

/** Passes the events of one turn on, in bounded number and size whatever the agent prints. */
export interface EventGate {
  emit(event: Exclude<AgentEvent, { type: 'tool_started' | 'tool_ended' }>): void;
  /** False when the call is not shown because there are too many; then its end must not be shown either. */
  toolStarted(toolId: string, name: string): boolean;
  toolEnded(toolId: string, name: string, ok: boolean): void;
  /** Hands over what was held back. Nothing passes afterwards. */
  close(): void;
}

/** How many events of a sort may pass: so many at once, so many a second in the long run. */
interface Allowance {
  readonly burst: number;
  readonly perSecond: number;
}

const MESSAGES: Allowance = { burst: 5, perSecond: 10 };
const USAGE: Allowance = { burst: 5, perSecond: 5 };
const TOOLS: Allowance = { burst: 50, perSecond: 20 };
const NOTICES: Allowance = { burst: 20, perSecond: 1 };
const LONGEST_TEXT_BYTES = 4096;

export function createEventGate(onEvent: (event: AgentEvent) => void, clean: (text: string) => string): EventGate {
  let open = true;
  const pass = (event: AgentEvent): void => {
    if (open) onEvent(event);
  };
  // Cleaned only when it passes: in a flood almost none does.
  const messages = createLane(MESSAGES, (event) =>
    pass(event.type === 'message' ? { ...event, text: clip(event.text, clean) } : event),
  );
  const usage = createLane(USAGE, pass);
  const tools = createBucket(TOOLS);
  const notices = createBucket(NOTICES);
  let [hiddenTools, hiddenNotices] = [0, 0];

  function notice(text: string): void {
    if (notices.take()) pass({ type: 'notice', text: clip(text, clean) });
    else hiddenNotices += 1;
  }

  return {
    emit(event) {
      if (event.type === 'message') messages.offer(event);
      else if (event.type === 'usage') usage.offer(event);
      else if (event.type === 'notice') notice(event.text);
      else pass(event);
    },
    toolStarted(toolId, name) {
      if (!tools.take()) {
        hiddenTools += 1;
        return false;
      }
      pass({ type: 'tool_started', toolId: toolId.slice(0, 200), name: name.slice(0, 200) });
      return true;
    },
    toolEnded: (toolId, name, ok) => pass({ type: 'tool_ended', toolId: toolId.slice(0, 200), name: name.slice(0, 200), ok }),
    close() {
      messages.flush();
      usage.flush();
      if (hiddenTools > 0) pass({ type: 'notice', text: `${hiddenTools} more tool calls are not shown` });
      if (hiddenNotices > 0) pass({ type: 'notice', text: `${hiddenNotices} more notices are not shown` });
      open = false;
    },
  };
}

interface Lane {
  offer(event: AgentEvent): void;
  flush(): void;
}

/** Events of which only the last matters: too many at once become one. The first and the last are never lost. */
function createLane(allowance: Allowance, pass: (event: AgentEvent) => void): Lane {
  const bucket = createBucket(allowance);
  let waiting: AgentEvent | null = null;
  let timer: NodeJS.Timeout | undefined;

  function deliver(): void {
    const event = waiting;
    waiting = null;
    if (event !== null) pass(event);
  }

  function wake(): void {
    timer = undefined;
    if (bucket.take()) deliver();
    else arm();
  }

  function arm(): void {
    timer ??= setTimeout(wake, 1000 / allowance.perSecond).unref();
  }

  return {
    offer(event) {
      waiting = event;
      if (bucket.take()) deliver();
      else arm();
    },
    flush() {
      clearTimeout(timer);
      timer = undefined;
      deliver();
    },
  };
}

/** https://en.wikipedia.org/wiki/Token_bucket */
function createBucket({ burst, perSecond }: Allowance): { take(): boolean } {
  let tokens = burst;
  let filledAt = performance.now();
  return {
    take() {
      const now = performance.now();
      tokens = Math.min(burst, tokens + ((now - filledAt) / 1000) * perSecond);
      filledAt = now;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}

/** Cleans before it cuts, so that no half of a secret is left at the cut. */
function clip(text: string, clean: (text: string) => string): string {
  const cleaned = clean(text.slice(0, 2 * LONGEST_TEXT_BYTES));
  const bytes = Buffer.from(cleaned, 'utf8');
  if (bytes.length <= LONGEST_TEXT_BYTES) return cleaned;
  // A character cut in half decodes to U+FFFD: it is left out.
  return `${bytes.toString('utf8', 0, LONGEST_TEXT_BYTES - 3).replace(/\uFFFD+$/, '')}…`;
}
