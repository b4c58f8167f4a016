import { z } from 'zod';
import { once } from '../../lib/once.ts';
import type { AgentErrorKind } from '../../domain/model/errors.ts';

/** What a scripted turn may come to. */
export const OUTCOMES = [
  'completed',
  'failed',
  'nothing',
  'hang',
  'exited',
  'refused',
  'needs_person',
  'usage_limit',
  'not_logged_in',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const OUTCOME_ERRORS: Readonly<Record<Exclude<Outcome, 'completed' | 'hang'>, AgentErrorKind>> = {
  failed: 'turn_failed',
  nothing: 'agent_did_nothing',
  exited: 'agent_exited',
  refused: 'agent_refused',
  needs_person: 'agent_needs_person',
  usage_limit: 'agent_usage_limit',
  not_logged_in: 'agent_not_logged_in',
};

const outcomes = once(() => z.array(z.enum(OUTCOMES)));
const count = once(() => z.int().min(0).max(1_000_000_000));
const delay = once(() => z.int().min(0).max(2_147_483_647));

export const optionsSchema = once(() =>
  z.object({
    outcomes: outcomes()
      .default([])
      .describe('Outcomes of the turns in the order they start, over all sessions; then completed.'),
    outcomes_by_issue: z
      .record(z.string(), outcomes())
      .default({})
      .describe('Outcomes of the turns of one issue, by identifier; these come before `outcomes`.'),
    turn_delay_ms: delay().default(0).describe('How long a turn takes.'),
    stop_delay_ms: delay().default(0).describe('How long a turn goes on after it was told to stop.'),
    start_error: z.string().default('').describe('When set, sessions fail to start with this text.'),
    input_tokens_per_turn: count().default(100).describe('Input tokens reported for a turn.'),
    output_tokens_per_turn: count().default(50).describe('Output tokens reported for a turn.'),
    cache_read_tokens_per_turn: count().default(0).describe('The cached share of the input tokens.'),
    tool_calls_per_turn: z.int().min(0).max(1_000).default(0).describe('Tool calls told for a turn.'),
    model: z.string().default('').describe('Model name to report.'),
    usage_limit_resets_in_ms: delay().default(60_000).describe('When a reported usage limit lifts.'),
  }),
);
export type Options = z.infer<ReturnType<typeof optionsSchema>>;
