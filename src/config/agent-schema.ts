import { z } from 'zod';
import { amount, byDefault, choice, commandLine, filledText, flag, milliseconds, text, wholeNumber } from './fields.ts';

/** The agent that is taken when the file names none. */
export const DEFAULT_AGENT_KIND = 'claude-code';

/** The section `agent`: what is run, and how much of it. */
export function agentSection(kinds: readonly string[]) {
  return z
    .strictObject({
      kind: byDefault(text('The coding agent to run.').meta({ enum: [...kinds] }), DEFAULT_AGENT_KIND),
      command: commandLine(
        "Program and arguments. By default the kind's own. A relative path is looked up beside the workflow file, then in the workspace.",
      ).optional(),
      user: filledText(
        'User of this machine that agents, hooks and verification commands run as; needs root. By default the user of the service.',
      ).optional(),
      ...sessionKeys,
      run_on: z
        .array(filledText('A label of a worker.'))
        .describe(
          'Labels that a worker must have to take runs; `[]` is any worker. Needs `store.url`. Without it agents run where the service runs.',
        )
        .optional(),
      ...issueKeys,
    })
    .describe('The coding agent and its limits.');
}

/** How many sessions there are, and how long each part of one may take. */
const sessionKeys = {
  max_turns: byDefault(wholeNumber({ min: 1 }, 'Turns of one session.'), 20),
  max_concurrent_agents: byDefault(wholeNumber({ min: 1 }, 'Sessions at the same time.'), 10),
  max_concurrent_agents_by_state: byDefault(
    z
      .record(z.string(), wholeNumber({ min: 1 }, 'Sessions at the same time.'))
      .describe('Sessions at the same time, by issue state.'),
    {},
  ),
  turn_timeout_ms: byDefault(milliseconds(1, 'Time one turn may take.'), 3_600_000),
  read_timeout_ms: byDefault(
    milliseconds(1, 'Time an agent may take to answer; one that starts gets a minute, unless this is less than the default.'),
    5000,
  ),
  stall_timeout_ms: byDefault(
    milliseconds(-(2 ** 31), 'Silence after which a turn counts as stalled; 0 or less: never.'),
    300_000,
  ),
  tool_timeout_ms: byDefault(
    milliseconds(-(2 ** 31), 'Silence after which a turn counts as stalled while a tool call runs; 0 or less: never.'),
    1_800_000,
  ),
  stop_grace_ms: byDefault(milliseconds(0, 'Time an agent has to end by itself before it is killed.'), 5000),
  max_retry_backoff_ms: byDefault(milliseconds(1, 'Longest wait before a failed run is tried again.'), 300_000),
};

/** What one issue may use up, and what its runs are told, must show and leave behind. */
const issueKeys = {
  max_attempts: byDefault(wholeNumber({ min: 0 }, 'Failed runs in a row after which an issue is parked; 0: no limit.'), 0),
  max_sessions: byDefault(wholeNumber({ min: 0 }, 'Sessions one issue may use; 0: no limit.'), 0),
  instructions: byDefault(
    flag(
      'Add to the first prompt of a run how the agent ends its work (the tool `finish`, `.foray/status`) and which tools it has.',
    ),
    true,
  ),
  evidence: byDefault(
    choice(
      ['any', 'changes'],
      'What a successful run must show: model text or a tool call in every turn (`any`), or also a commit, a changed file or a pushed branch (`changes`).',
    ),
    'any',
  ),
  max_tokens: byDefault(wholeNumber({ min: 0 }, 'Tokens one issue may use; 0: no limit.'), 0),
  max_cost_usd: byDefault(amount('Dollars one issue may cost; 0: no limit.'), 0),
  max_recorded_bytes: byDefault(
    wholeNumber({ min: 65_536, max: 1_073_741_824 }, "Bytes of a run's events that are kept; the oldest go first."),
    2_097_152,
  ),
};
