import type { Item } from './parse.ts';

/** The items that are tool calls, and what the tool is called. All others are words, thoughts or bookkeeping. */
const TOOL_NAMES: Readonly<Record<string, (item: Item) => string>> = {
  commandExecution: () => 'shell',
  fileChange: () => 'apply_patch',
  mcpToolCall: ({ server, tool }) => `${server ?? 'mcp'}.${tool ?? 'tool'}`,
  dynamicToolCall: ({ tool }) => tool ?? 'tool',
  collabAgentToolCall: ({ tool }) => tool ?? 'agent',
  functionCallOutput: ({ name }) => name ?? 'function',
  webSearch: () => 'web_search',
  imageView: () => 'view_image',
  imageGeneration: () => 'image_generation',
  sleep: () => 'sleep',
};

/** The name of the tool that the item is a call of, or null when it is none. */
export function toolOf(item: Item): string | null {
  return Object.hasOwn(TOOL_NAMES, item.type) ? (TOOL_NAMES[item.type]?.(item) ?? null) : null;
}

/** The text of the model that the item carries, or an empty one. */
export function textOf({ type, text = '' }: Item): string {
  return type === 'agentMessage' || type === 'plan' ? text : '';
}

export function isCommand({ type }: Item): boolean {
  return type === 'commandExecution';
}

/** Types that every turn has and that are no work. */
export function isPlain({ type }: Item): boolean {
  return type === 'userMessage' || type === 'agentMessage' || type === 'reasoning' || type === 'plan';
}

export function succeeded({ status }: Item): boolean {
  return status === undefined || status === 'completed';
}

/** The programs that build the sandbox. What they complain about, the command itself never got to see. */
const SANDBOX_COMPLAINT = /^(?:bwrap|bubblewrap|sandbox-exec|codex-linux-sandbox)(?:\.exe)?: (?<why>[^\n]*)/;

/** Why a command that has ended was never carried out; null when it was. Codex itself shows it as failed like any other. */
export function neverRan({ status, exitCode, aggregatedOutput }: Item): string | null {
  if (status === 'declined') return 'it was not approved';
  if (status !== 'failed') return null;
  const complaint = SANDBOX_COMPLAINT.exec(aggregatedOutput ?? '');
  if (complaint) return `its sandbox failed: ${complaint[0]}`;
  return exitCode == null || exitCode < 0 ? 'it could not be started' : null;
}
