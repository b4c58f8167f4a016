import { z } from 'zod';
import { once } from '../../lib/once.ts';

/** The modes of `claude --permission-mode` that can run unattended. */
export const PERMISSION_MODES = ['default', 'acceptEdits', 'bypassPermissions', 'dontAsk', 'plan'] as const;

/** The system takes no longer single argument than 128 KiB. */
const LONGEST_ARGUMENT = 100_000;

const filled = once(() =>
  z
    .string()
    .max(LONGEST_ARGUMENT)
    .refine((value) => value.trim() !== '', 'must not be empty')
    .refine((value) => !value.includes('\0'), 'must not contain a NUL character'),
);

export const optionsSchema = once(() =>
  z.object({
    model: filled().optional().describe("Model name or alias; by default Claude Code's own choice."),
    permission_mode: z
      .enum(PERMISSION_MODES)
      .default('bypassPermissions')
      .describe('What the agent may do without asking. Nobody is there to answer: what a mode would ask about is refused.'),
    allowed_tools: tools('Tools that need no permission, such as `Bash(git log:*)`: a list, or one string with commas.'),
    disallowed_tools: tools('Tools that are taken away: a list, or one string with commas.'),
    max_turns: z
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .describe('Model round trips after which Claude Code cuts one turn short.'),
    max_budget_usd: z
      .number()
      .positive()
      .max(1_000_000)
      .optional()
      .describe('Cost in US dollars at which Claude Code cuts one turn short; it starts anew with each turn.'),
    append_system_prompt: filled().optional().describe("Text added to Claude Code's own system prompt."),
    mcp_config: filled()
      .refine((value) => value.startsWith('/') || value.startsWith('~/'), 'must be an absolute path or start with ~/')
      .optional()
      .describe('A file with more tool servers (`mcpServers`), by its absolute path or one that starts with `~/`.'),
  }),
);
export type Options = z.infer<ReturnType<typeof optionsSchema>>;

/** A list of tool names, or one string of them. */
function tools(about: string) {
  // A leading dash would be read as another option.
  const name = filled().refine((value) => !value.trimStart().startsWith('-'), 'must not start with a dash');
  return z
    .preprocess((value) => (typeof value === 'string' ? splitTools(value) : value), z.array(name))
    .meta({ description: about, anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] })
    .optional();
}

/** Splits at the commas outside of brackets: `Bash(a, b), Edit` are two. */
function splitTools(text: string): string[] {
  const names = text.match(/(?:\([^)]*\)|[^,(]|\()+/g) ?? [];
  return names.map((name) => name.trim()).filter((name) => name !== '');
}
