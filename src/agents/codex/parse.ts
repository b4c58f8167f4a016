import { z } from 'zod';
import { isBlank } from '../shared/blank.ts';
import { countOf, LONGEST_SESSION_ID } from '../shared/json.ts';

/** What Codex says by itself, as far as it matters here. */
export type CodexNote =
  | { readonly type: 'turn-started'; readonly threadId: string; readonly turnId: string }
  | { readonly type: 'turn-ended'; readonly threadId: string; readonly turnId: string; readonly end: TurnEnd }
  | { readonly type: 'item-started' | 'item-ended'; readonly threadId: string; readonly turnId: string; readonly item: Item }
  | { readonly type: 'text'; readonly threadId: string; readonly turnId: string }
  | { readonly type: 'usage'; readonly threadId: string; readonly turnId: string; readonly usage: ThreadUsage }
  | {
      readonly type: 'error';
      readonly threadId: string;
      readonly turnId: string;
      readonly error: TurnError;
      readonly willRetry: boolean;
    }
  | { readonly type: 'plan'; readonly threadId: string; readonly turnId: string }
  | { readonly type: 'model'; readonly threadId: string; readonly model: string }
  | { readonly type: 'limits'; readonly limits: RateLimits }
  | { readonly type: 'warning'; readonly text: string };

/** The notification as a note; null when it is of no interest, or not what its method promises. */
export function readNote(method: string, params: unknown): CodexNote | null {
  const reader = Object.hasOwn(READERS, method) ? READERS[method] : undefined;
  return reader?.safeParse(params).data ?? null;
}

const count = z.number().min(0).transform(countOf);
const tokens = z.object({ inputTokens: count, outputTokens: count, cachedInputTokens: count.default(0) });
const threadUsage = z.object({ total: tokens, last: tokens.nullish() });
export type ThreadUsage = z.infer<typeof threadUsage>;

const turnError = z.object({
  message: z.string(),
  /** A word, or an object with the word as its only key. */
  codexErrorInfo: z
    .union([z.string(), z.record(z.string(), z.unknown())])
    .nullish()
    .catch(undefined),
  additionalDetails: z.string().nullish().catch(undefined),
});
export type TurnError = z.infer<typeof turnError>;

/** Without its end a turn would wait until it counts as stalled: an error that cannot be read loses none. */
const turnEnd = z.object({
  status: z.string(),
  error: z
    .union([turnError, z.string().transform((message) => ({ message }))])
    .nullish()
    .catch(undefined),
});
export type TurnEnd = z.infer<typeof turnEnd>;

const limitWindow = z.object({ usedPercent: z.number(), resetsAt: z.number().nullish() });
const rateLimits = z.object({ limitId: z.string().nullish(), primary: limitWindow.nullish(), secondary: limitWindow.nullish() });
export type RateLimits = z.infer<typeof rateLimits>;

const item = z.object({
  id: z.string(),
  type: z.string(),
  /** inProgress, completed, failed or declined; some types have none. */
  status: z.string().optional().catch(undefined),
  text: z.string().optional().catch(undefined),
  tool: z.string().optional().catch(undefined),
  server: z.string().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  exitCode: z.number().nullish().catch(undefined),
  aggregatedOutput: z.string().nullish().catch(undefined),
  /** What was called, by type. */
  command: z.string().optional().catch(undefined),
  commandActions: z
    .array(z.looseObject({ type: z.string() }))
    .optional()
    .catch(undefined),
  changes: z
    .array(z.looseObject({ path: z.string() }))
    .optional()
    .catch(undefined),
  arguments: z.unknown().optional(),
  query: z.string().optional().catch(undefined),
  path: z.string().optional().catch(undefined),
  result: z.unknown().optional(),
  durationMs: z.number().min(0).nullish().catch(undefined),
  error: z.object({ message: z.string() }).nullish().catch(undefined),
});
export type Item = z.infer<typeof item>;

const place = { threadId: z.string(), turnId: z.string() };
const turnPlace = z.object({ threadId: z.string(), turn: z.looseObject({ id: z.string() }) });
const itemPlace = z.object({ ...place, item });
const delta = z.object({ ...place, delta: z.string().refine((text) => !isBlank(text)) });

/** The notifications that are read, each by its method. */
const READERS: Readonly<Record<string, z.ZodType<CodexNote>>> = {
  'turn/started': turnPlace.transform(({ threadId, turn }) => ({ type: 'turn-started' as const, threadId, turnId: turn.id })),
  'turn/completed': z
    .object({ threadId: z.string(), turn: turnEnd.extend({ id: z.string() }) })
    .transform(({ threadId, turn: { id, ...end } }) => ({ type: 'turn-ended' as const, threadId, turnId: id, end })),
  'item/started': itemPlace.transform((found) => ({ type: 'item-started' as const, ...found })),
  'item/completed': itemPlace.transform((found) => ({ type: 'item-ended' as const, ...found })),
  'item/agentMessage/delta': delta.transform(({ threadId, turnId }) => ({ type: 'text' as const, threadId, turnId })),
  'turn/plan/updated': z.object(place).transform((found) => ({ type: 'plan' as const, ...found })),
  'thread/tokenUsage/updated': z
    .object({ ...place, tokenUsage: threadUsage })
    .transform(({ tokenUsage, ...found }) => ({ type: 'usage' as const, ...found, usage: tokenUsage })),
  'account/rateLimits/updated': z
    .object({ rateLimits })
    .transform(({ rateLimits: limits }) => ({ type: 'limits' as const, limits })),
  error: z
    .object({ ...place, error: turnError, willRetry: z.boolean() })
    .transform((found) => ({ type: 'error' as const, ...found })),
  'model/rerouted': z
    .object({ threadId: z.string(), toModel: z.string() })
    .transform(({ threadId, toModel }) => ({ type: 'model' as const, threadId, model: toModel })),
  warning: z.object({ message: z.string() }).transform(({ message }) => ({ type: 'warning' as const, text: message })),
  guardianWarning: z.object({ message: z.string() }).transform(({ message }) => ({ type: 'warning' as const, text: message })),
  configWarning: z.object({ summary: z.string() }).transform(({ summary }) => ({ type: 'warning' as const, text: summary })),
  'mcpServer/startupStatus/updated': z
    .object({ name: z.string(), status: z.literal('failed'), error: z.string().nullish() })
    .transform(({ name, error }) => ({
      type: 'warning' as const,
      text: `the tool server ${name} did not start: ${error ?? 'no reason given'}`,
    })),
};

export const threadAnswer = z.object({
  thread: z.looseObject({ id: z.string().min(1).max(LONGEST_SESSION_ID) }),
  model: z.string().optional(),
});
export const turnAnswer = z.object({ turn: z.looseObject({ id: z.string().min(1) }) });
export const accountAnswer = z.object({ account: z.looseObject({}).nullish(), requiresOpenaiAuth: z.boolean().default(false) });
export const commandAnswer = z.object({ exitCode: z.number() });

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
export function itemText({ type, text = '' }: Item): string {
  return type === 'agentMessage' || type === 'plan' ? text : '';
}

/** What the item was called with. */
export function inputOf({ command, changes, arguments: args, query, path }: Item): unknown {
  return command ?? changes?.map((change) => change.path).join(', ') ?? args ?? query ?? path;
}

export function outputOf({ aggregatedOutput, result, error }: Item): unknown {
  return aggregatedOutput ?? error?.message ?? result;
}

/** Items that look and change nothing, by their type or by what Codex says that a command does. */
const LOOKING_TYPES: ReadonlySet<string> = new Set(['webSearch', 'imageView', 'sleep']);
const LOOKING_ACTIONS: ReadonlySet<string> = new Set(['read', 'listFiles', 'search']);
const LOOKING_TOOLS: ReadonlySet<string> = new Set(['read_issue', 'run_status']);

export function onlyLooks({ type, commandActions = [], server, tool }: Item): boolean {
  if (LOOKING_TYPES.has(type)) return true;
  if (type === 'mcpToolCall') return server === 'foray' && LOOKING_TOOLS.has(tool ?? '');
  return commandActions.length > 0 && commandActions.every((action) => LOOKING_ACTIONS.has(action.type));
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
