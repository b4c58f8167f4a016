import type { AgentEvent } from '../../domain/model/agent-event.ts';
import { isCommand, neverRan, succeeded } from './items.ts';
import type { Item } from './parse.ts';

/** The tool calls of one turn: what they came to, and which are still open. */
export interface CallBook {
  see(item: Item, name: string, isEnd: boolean): void;
  sums(): CallSums;
  /** Ends the calls that Codex left open, so that nobody waits for them. */
  close(): void;
}

export interface CallSums {
  /** Tool calls that were shown. */
  readonly tools: number;
  readonly commands: number;
  /** Commands that never got to run, and why the first one did not. */
  readonly commandsLost: number;
  readonly whyLost: string;
  /** Tool calls besides commands that succeeded. */
  readonly otherWork: number;
}

const MAX_OPEN = 1000;

export function createCallBook(emit: (event: AgentEvent) => void): CallBook {
  const open = new Map<string, string>();
  const sums = { tools: 0, commands: 0, commandsLost: 0, whyLost: '', otherWork: 0 };

  function begin(item: Item, name: string): void {
    sums.tools += 1;
    if (isCommand(item)) sums.commands += 1;
    if (open.size < MAX_OPEN) open.set(item.id, name);
    emit({ type: 'tool_started', toolId: item.id, name });
  }

  function end(item: Item, name: string): void {
    open.delete(item.id);
    emit({ type: 'tool_ended', toolId: item.id, name, ok: succeeded(item) });
    if (item.error) emit({ type: 'notice', text: `${name}: ${item.error.message}` });
    if (!isCommand(item)) sums.otherWork += succeeded(item) ? 1 : 0;
    else countLost(neverRan(item));
  }

  function countLost(why: string | null): void {
    if (why === null) return;
    sums.commandsLost += 1;
    sums.whyLost ||= why;
  }

  return {
    see(item, name, isEnd) {
      if (!open.has(item.id)) begin(item, name);
      if (isEnd) end(item, name);
    },
    sums: () => ({ ...sums }),
    close() {
      for (const [toolId, name] of open) emit({ type: 'tool_ended', toolId, name, ok: false });
      open.clear();
    },
  };
}
