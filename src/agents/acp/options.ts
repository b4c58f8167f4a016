import { z } from 'zod';
import { once } from '../../lib/once.ts';

export const PERMISSION_POLICIES = ['allow', 'deny'] as const;
export type PermissionPolicy = (typeof PERMISSION_POLICIES)[number];

const name = once(() =>
  z
    .string()
    .max(1_000)
    .refine((value) => value.trim() !== '', 'must not be empty'),
);

export const optionsSchema = once(() =>
  z.object({
    permission: z
      .enum(PERMISSION_POLICIES)
      .default('allow')
      .describe('How the agent is answered when it asks whether it may do something. Nobody is there to be asked.'),
    model: name().optional().describe('Model, as the agent names it in its own list; by default its own choice.'),
    mode: name()
      .optional()
      .describe('Session mode, as the agent names it in its own list, such as `plan`; by default its own choice.'),
    mcp: z.boolean().default(true).describe('Whether the agent is given the tools for its issue.'),
  }),
);
export type Options = z.infer<ReturnType<typeof optionsSchema>>;
