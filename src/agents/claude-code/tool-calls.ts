import type { EventGate } from './event-gate.ts';

/** The tool calls of one process. */
export interface ToolCalls {
  start(id: string, name: string): void;
  end(id: string, ok: boolean): void;
  /** Whether a call ended well, or has no end that we saw although it was not refused. */
  worked(refused: ReadonlySet<string>): boolean;
  /** The process is gone: what is still open failed. */
  endAll(): void;
}

/** Calls under way that are remembered; more are never open at once. */
const MOST_OPEN = 1000;

export function createToolCalls(gate: EventGate): ToolCalls {
  const open = new Map<string, { readonly name: string; readonly shown: boolean }>();
  let endedWell = false;

  function end(id: string, ok: boolean): void {
    const call = open.get(id);
    if (call === undefined) return;
    open.delete(id);
    endedWell ||= ok;
    if (call.shown) gate.toolEnded(id, call.name, ok);
  }

  return {
    start(id, name) {
      // The same call may be printed more than once.
      if (open.has(id)) return;
      if (open.size >= MOST_OPEN) open.delete(open.keys().next().value ?? '');
      open.set(id, { name, shown: gate.toolStarted(id, name) });
    },
    end,
    worked: (refused) => endedWell || [...open.keys()].some((id) => !refused.has(id)),
    endAll() {
      for (const id of open.keys()) end(id, false);
    },
  };
}
