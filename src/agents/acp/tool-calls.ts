import type { EventGate } from './event-gate.ts';
import type { ToolCall } from './wire.ts';

/** The tool calls of one turn. Each begins and ends once, however often the agent repeats itself. */
export interface ToolCalls {
  /** A call began or went on. It may be the first that is heard of it. */
  saw(call: ToolCall): void;
  /** A call was not allowed: some agents never mention it again. */
  refused(call: ToolCall): void;
}

/** More calls than this in one turn are not told apart any more. */
const MAX_CALLS = 5_000;
const ENDED = new Map([
  ['completed', true],
  ['failed', false],
]);

export function createToolCalls(gate: Pick<EventGate, 'toolStarted' | 'toolEnded' | 'pulse'>): ToolCalls {
  const names = new Map<string, string>();
  const closed = new Set<string>();

  function start(call: ToolCall): void {
    const name = nameOf(call);
    names.set(call.toolCallId, name);
    // A call that is not shown counts as closed, so that its end is not shown either.
    if (!gate.toolStarted(call.toolCallId, name)) closed.add(call.toolCallId);
  }

  function end(id: string, ok: boolean): void {
    if (closed.has(id)) return;
    closed.add(id);
    gate.toolEnded(id, names.get(id) ?? 'tool', ok);
  }

  function saw(call: ToolCall): void {
    const isNew = !names.has(call.toolCallId);
    if (isNew && names.size >= MAX_CALLS) return;
    if (isNew) start(call);
    const ok = ENDED.get(call.status ?? '');
    if (ok === undefined) gate.pulse(`${names.get(call.toolCallId)} is running`);
    else end(call.toolCallId, ok);
  }

  return {
    saw,
    refused(call) {
      saw({ ...call, status: 'failed' });
    },
  };
}

/** The tool's own name where the agent tells it, else what it calls the work. */
function nameOf({ name, title, kind, _meta }: ToolCall): string {
  return [name, _meta?.claudeCode?.toolName, title, kind].find((one) => one !== undefined && one.trim() !== '') ?? 'tool';
}
