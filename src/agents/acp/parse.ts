import { z } from 'zod';
import { countOf } from '../shared/json.ts';

/**
 * What is read of the Agent Client Protocol, version 1: https://agentclientprotocol.com/protocol/v1/schema.
 * Only the fields that are used. An optional field of the wrong shape counts as absent, as the protocol asks for.
 */
export const PROTOCOL_VERSION = 1;

/** The protocol's own error code for "log in first". */
export const AUTH_REQUIRED = -32000;

const text = z.string().optional().catch(undefined);
const flag = z.boolean().optional().catch(undefined);
/** `{}` means that the agent can do it. */
const ability = z.looseObject({}).optional().catch(undefined);

/** A list in which a bad entry is left out and loses no other. */
function listOf<T>(entry: z.ZodType<T>) {
  return z
    .array(z.unknown())
    .transform((entries) => entries.map((one) => entry.safeParse(one)).flatMap((read) => (read.success ? [read.data] : [])))
    .catch([]);
}

export const initializeResult = z.object({
  protocolVersion: z.unknown().optional(),
  agentCapabilities: z
    .object({
      loadSession: flag,
      sessionCapabilities: z.object({ resume: ability }).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  agentInfo: z.object({ name: z.string(), title: text, version: text }).optional().catch(undefined),
  authMethods: listOf(z.object({ name: z.string(), description: text })),
});
export type InitializeResult = z.infer<typeof initializeResult>;

const choice = z.object({ value: z.string(), name: text });
const choices = listOf(z.union([choice, z.object({ options: listOf(choice) })])).transform((entries) =>
  entries.flatMap((entry) => ('options' in entry ? entry.options : [entry])),
);

/** What `session/new`, `session/load` and `session/resume` answer: what can be chosen, and what is chosen now. */
export const sessionSetup = z.object({
  sessionId: text,
  models: z
    .object({ currentModelId: text, availableModels: listOf(z.object({ modelId: z.string(), name: text })) })
    .optional()
    .catch(undefined),
  modes: z
    .object({ currentModeId: text, availableModes: listOf(z.object({ id: z.string(), name: text })) })
    .optional()
    .catch(undefined),
  configOptions: listOf(
    z.object({ id: z.string(), type: z.literal('select'), category: text, currentValue: text, options: choices }),
  ),
});
export type SessionSetup = z.infer<typeof sessionSetup>;

const toolCall = z.object({
  toolCallId: z.string(),
  title: text,
  name: text,
  kind: text,
  status: text,
  /** What the tool is called with and gives back, in the agent's own form. */
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
  content: z.array(z.unknown()).optional().catch(undefined),
  locations: listOf(z.object({ path: z.string() })).optional(),
  _meta: z
    .object({
      claudeCode: z.object({ toolName: text }).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});
export type ToolCall = z.infer<typeof toolCall>;

const figure = z.number().nonnegative().transform(countOf);
const count = figure.optional().catch(undefined);

const usageFigures = z.object({
  inputTokens: figure,
  outputTokens: figure,
  totalTokens: count,
  thoughtTokens: count,
  cachedReadTokens: count,
  cachedWriteTokens: count,
});
export type UsageFigures = z.infer<typeof usageFigures>;

const chunk = z.object({
  content: z.object({ type: text, text }).optional().catch(undefined),
  messageId: text,
  /** Qwen Code tells the figures of each model request here, and none with the answer. */
  _meta: z.object({ usage: usageFigures }).optional().catch(undefined),
});

export const sessionUpdate = z.discriminatedUnion('sessionUpdate', [
  chunk.extend({ sessionUpdate: z.literal('user_message_chunk') }),
  chunk.extend({ sessionUpdate: z.literal('agent_message_chunk') }),
  chunk.extend({ sessionUpdate: z.literal('agent_thought_chunk') }),
  toolCall.extend({ sessionUpdate: z.literal('tool_call') }),
  toolCall.extend({ sessionUpdate: z.literal('tool_call_update') }),
  z.object({ sessionUpdate: z.literal('plan'), entries: listOf(z.object({ content: z.string(), status: text })) }),
  z.object({
    sessionUpdate: z.literal('usage_update'),
    /** Tokens in the context after the last model request. */
    used: count,
    cost: z.object({ amount: z.number(), currency: z.string() }).optional().catch(undefined),
  }),
  z.object({
    sessionUpdate: z.literal('session_info_update'),
    _meta: z.looseObject({}).optional().catch(undefined),
  }),
]);
export type SessionUpdate = z.infer<typeof sessionUpdate>;
export type Chunk = z.infer<typeof chunk>;

export const sessionNotification = z.object({ sessionId: z.string(), update: z.unknown() });

/** The draft's own place for usage, and the one that Gemini CLI uses. */
export const promptResult = z.object({
  stopReason: z.string(),
  usage: usageFigures.optional().catch(undefined),
  _meta: z
    .object({
      quota: z.object({ token_count: z.object({ input_tokens: figure, output_tokens: figure }) }),
    })
    .optional()
    .catch(undefined),
});
export type PromptResult = z.infer<typeof promptResult>;

export const permissionRequest = z.object({
  toolCall: toolCall.optional().catch(undefined),
  options: listOf(z.object({ optionId: z.string(), kind: z.string() })),
});
export type PermissionRequest = z.infer<typeof permissionRequest>;

/** The tool's own name where the agent tells it, else what it calls the work. */
export function toolNameOf({ name, title, kind, _meta }: ToolCall): string {
  return [name, _meta?.claudeCode?.toolName, title, kind].find((one) => one !== undefined && one.trim() !== '') ?? 'tool';
}

/** What the tool was called with, as far as the agent tells. */
export function inputOf(call: ToolCall): unknown {
  const { rawInput, locations = [], title } = call;
  if (typeof rawInput === 'object' && rawInput !== null && Object.keys(rawInput).length > 0) return rawInput;
  const paths = locations.map(({ path }) => path).join(', ');
  if (paths !== '') return paths;
  return title === toolNameOf(call) ? undefined : title;
}

/** How far a plan is, on one line. */
export function planProgress(entries: readonly { content: string; status?: string }[]): string {
  const done = entries.filter(({ status }) => status === 'completed').length;
  const current = entries.find(({ status }) => status === 'in_progress');
  return `plan: ${done} of ${entries.length} steps done${current ? `, now: ${current.content}` : ''}`;
}
