import { z } from 'zod';
import type { ReactionKind } from '../domain/model/settings.ts';
import type { Provider } from '../ports/provider.ts';
import { MERGE_STRATEGIES } from '../ports/scm.ts';
import { byDefault, choice, filledText, flag, milliseconds, text, textList, textOrNumber, wholeNumber } from './fields.ts';

const DAY_MS = 86_400_000;

interface ReactionDefaults {
  readonly pollIntervalMs: number;
  /** 0 watches without end. */
  readonly watchWindowMs: number;
  readonly budget: number;
}

export const REACTION_DEFAULTS: Readonly<Record<ReactionKind, ReactionDefaults>> = {
  ci_failure: { pollIntervalMs: 60_000, watchWindowMs: DAY_MS, budget: 2 },
  review_comments: { pollIntervalMs: 120_000, watchWindowMs: 7 * DAY_MS, budget: 3 },
  bot_review: { pollIntervalMs: 60_000, watchWindowMs: 7 * DAY_MS, budget: 5 },
  merge_conflicts: { pollIntervalMs: 60_000, watchWindowMs: 7 * DAY_MS, budget: 1 },
  auto_merge: { pollIntervalMs: 60_000, watchWindowMs: 7 * DAY_MS, budget: 2 },
  merge_completion: { pollIntervalMs: 60_000, watchWindowMs: 0, budget: 2 },
  label_commands: { pollIntervalMs: 60_000, watchWindowMs: 0, budget: 2 },
};

/** What holds where neither the reaction nor the provider's block says otherwise. */
export const ROLE_DEFAULTS = { botUsernames: [], maxLogLines: 50, requireCi: true, strategy: 'squash' } as const;

const botUsernames = () => textList('Accounts whose reviews count as those of a bot.').optional();
const maxLogLines = () =>
  wholeNumber({ min: -Number.MAX_SAFE_INTEGER }, 'Lines of the failing log shown to the agent; 0 or less: none.').optional();
const requireCi = () => flag('Merge only when CI succeeded or there is none.').optional();
const strategy = () => choice(MERGE_STRATEGIES, 'How a request is merged.').optional();

/** The keys of a tracker kind's own block that its merge-request and CI roles read. */
export const roleKeys = z.strictObject({
  api_key: text('Credential of the merge-request side. By default that of the tracker, when it is of the same kind.').optional(),
  endpoint: text('Address of the forge. By default that of the tracker, when it is of the same kind.').optional(),
  project: textOrNumber('Project whose CI is read. By default that of the tracker, when it is of the same kind.').optional(),
  user_agent: filledText('User-Agent header of merge-request and CI calls. By default `svc/dev`.').optional(),
  bot_usernames: botUsernames(),
  max_log_lines: maxLogLines(),
  require_ci: requireCi(),
  strategy: strategy(),
});
export type RoleKeys = z.output<typeof roleKeys>;

/** The `reactions` section: one member per kind. */
export function reactionsSection(providers: readonly Provider[]) {
  const names = providers
    .filter((provider) => provider.createScm !== undefined)
    .flatMap((provider) => [provider.kind, ...provider.aliases]);
  const shared = (kind: ReactionKind) => sharedKeys(names, REACTION_DEFAULTS[kind]);
  const turns = (kind: ReactionKind) =>
    wholeNumber({ min: 0 }, 'Turns before a person is asked.').meta({ default: REACTION_DEFAULTS[kind].budget }).optional();
  return z
    .strictObject({
      ci_failure: z
        .strictObject({ ...shared('ci_failure'), max_log_lines: maxLogLines() })
        .optional()
        .describe('Have the agent mend a merge request whose CI failed.'),
      review_comments: z
        .strictObject({
          ...shared('review_comments'),
          max_continuation_turns: turns('review_comments'),
          debounce_ms: byDefault(milliseconds(0, 'Quiet time after the newest comment before the agent starts.'), 60_000),
        })
        .optional()
        .describe('Have the agent answer the change requests of reviewers.'),
      bot_review: z
        .strictObject({ ...shared('bot_review'), max_continuation_turns: turns('bot_review'), bot_usernames: botUsernames() })
        .optional()
        .describe('Have the agent answer the comments of review bots.'),
      merge_conflicts: z
        .strictObject(shared('merge_conflicts'))
        .optional()
        .describe('Have the agent resolve conflicts with the base branch.'),
      auto_merge: z
        .strictObject({
          ...shared('auto_merge'),
          strategy: strategy(),
          require_ci: requireCi(),
          delete_branch: byDefault(flag('Delete the branch after the merge.'), true),
          dry_run: byDefault(flag('Only log what would be merged.'), false),
        })
        .optional()
        .describe('Merge a request that is approved and green.'),
      merge_completion: z
        .strictObject({
          ...shared('merge_completion'),
          target_state: byDefault(
            filledText('State of the issue once its request is merged; one of `tracker.terminal_states`.'),
            'done',
          ),
        })
        .optional()
        .describe('Finish the issue when its request is merged.'),
      label_commands: z
        .strictObject({
          ...shared('label_commands'),
          review_label: byDefault(text('Label that asks for a review; empty: none.'), 'foray:review'),
          fix_label: byDefault(text('Label that asks for a fix; empty: none.'), 'foray:fix'),
        })
        .optional()
        .describe('Let people start the agent by a label on the request.'),
    })
    .describe('What is done about the merge requests that runs leave behind.');
}

function sharedKeys(providerNames: readonly string[], defaults: ReactionDefaults) {
  return {
    provider: text('Switches the reaction on: the kind of forge that holds the merge requests.')
      .meta({ enum: [...providerNames] })
      .optional(),
    poll_interval_ms: byDefault(milliseconds(100, 'Time between two looks at a merge request.'), defaults.pollIntervalMs),
    watch_window_ms: byDefault(
      wholeNumber({ min: 0 }, 'Time after which a merge request is left alone; 0: never.'),
      defaults.watchWindowMs,
    ),
    max_retries: wholeNumber({ min: 0 }, 'Tries before a person is asked.').meta({ default: defaults.budget }).optional(),
    escalation: byDefault(choice(['label', 'comment', 'none'], 'How a person is asked.'), 'label'),
    escalation_label: byDefault(text('Label that asks a person.'), 'needs-human'),
  };
}
