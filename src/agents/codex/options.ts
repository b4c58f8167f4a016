import { z } from 'zod';
import { once } from '../../lib/once.ts';

export const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh'] as const;
/** The words of the app server's wire; its configuration file knows others. */
export const APPROVAL_POLICIES = ['never', 'on-request', 'untrusted'] as const;
export const SANDBOXES = ['read-only', 'workspace-write', 'danger-full-access'] as const;

export const optionsSchema = once(() =>
  z.object({
    model: z
      .string()
      .refine((value) => value.trim() !== '', 'must not be empty')
      .optional()
      .describe("Model name; by default Codex's own choice."),
    effort: z.enum(EFFORTS).optional().describe("How long the model thinks; by default the model's own choice."),
    approval_policy: z
      .enum(APPROVAL_POLICIES)
      .default('never')
      .describe(
        'When Codex asks before it acts. Nobody is there to answer: what it asks is granted, except with the sandbox read-only.',
      ),
    sandbox: z.enum(SANDBOXES).default('workspace-write').describe("Where the agent's commands may write."),
    network_access: z.boolean().default(false).describe("Whether the agent's commands may use the network."),
  }),
);
export type Options = z.infer<ReturnType<typeof optionsSchema>>;
