import { z } from 'zod';
import { TRUST, type ReactionBase, type ReactionKind, type ReactionOptions, type Trust } from '../domain/model/settings.ts';
import { MERGE_STRATEGIES } from '../ports/scm.ts';
import { byDefault, choice, filledText, flag, milliseconds, text, textList, textOrNumber, wholeNumber } from './fields.ts';

const DAY_MS = 86_400_000;

const botUsernames = () => textList('Accounts whose reviews count as those of a bot.').optional();
const maxLogLines = () =>
  wholeNumber({ min: -Number.MAX_SAFE_INTEGER }, 'Lines of the failing log shown to the agent; 0 or less: none.').optional();
const requireCi = () => flag('Merge only when CI succeeded or there is none.').optional();
const trust = (about: string) => choice(TRUST, about).optional();
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

/** What holds where neither the reaction nor the provider's block says otherwise. */
const ROLE_DEFAULTS = { botUsernames: [], maxLogLines: 50, requireCi: true, strategy: 'squash' } as const;

export interface ReactionDefaults {
  readonly pollIntervalMs: number;
  /** 0 watches without end. */
  readonly watchWindowMs: number;
  readonly budget: number;
}

/** One reaction in the workflow file: what it is for, its defaults, the keys it alone has, and what they amount to. */
interface ReactionKeys<Kind extends ReactionKind, Own extends z.ZodRawShape> {
  readonly about: string;
  readonly defaults: ReactionDefaults;
  readonly own: Own;
  options(
    written: z.output<z.ZodObject<Own>>,
    role: RoleKeys & { readonly trust: Trust },
  ): Omit<ReactionOptions[Kind], keyof ReactionBase>;
}

function reaction<Kind extends ReactionKind, Own extends z.ZodRawShape>(_kind: Kind, keys: ReactionKeys<Kind, Own>) {
  return keys;
}

const turns = (budget: number) => wholeNumber({ min: 0 }, 'Turns before a person is asked.').meta({ default: budget }).optional();

/** Every reaction's keys. The schema, the settings and the documentation are made of this table. */
export const REACTION_KEYS = {
  ci_failure: reaction('ci_failure', {
    about: 'Have the agent mend a merge request whose CI failed.',
    defaults: { pollIntervalMs: 60_000, watchWindowMs: DAY_MS, budget: 2 },
    own: { max_log_lines: maxLogLines() },
    options: (own, role) => ({ maxLogLines: own.max_log_lines ?? role.max_log_lines ?? ROLE_DEFAULTS.maxLogLines }),
  }),
  review_comments: reaction('review_comments', {
    about: 'Have the agent answer the change requests of reviewers.',
    defaults: { pollIntervalMs: 120_000, watchWindowMs: 7 * DAY_MS, budget: 3 },
    own: {
      max_continuation_turns: turns(3),
      trust: trust(
        'Whose reviews start a turn, enter a prompt and count for or against a merge. By default that of the provider.',
      ),
      debounce_ms: byDefault(milliseconds(0, 'Quiet time after the newest comment before the agent starts.'), 60_000),
    },
    options: (own, role) => ({ debounceMs: own.debounce_ms, trust: own.trust ?? role.trust }),
  }),
  bot_review: reaction('bot_review', {
    about: 'Have the agent answer the comments of review bots.',
    defaults: { pollIntervalMs: 60_000, watchWindowMs: 7 * DAY_MS, budget: 5 },
    own: {
      max_continuation_turns: turns(5),
      bot_usernames: botUsernames(),
      trust: trust('Whose comments count. Bots, apps and the accounts of `bot_usernames` always do.'),
    },
    options: (own, role) => ({
      botUsernames: own.bot_usernames ?? role.bot_usernames ?? ROLE_DEFAULTS.botUsernames,
      trust: own.trust ?? role.trust,
    }),
  }),
  merge_conflicts: reaction('merge_conflicts', {
    about: 'Have the agent resolve conflicts with the base branch.',
    defaults: { pollIntervalMs: 60_000, watchWindowMs: 7 * DAY_MS, budget: 1 },
    own: {},
    options: () => ({}),
  }),
  auto_merge: reaction('auto_merge', {
    about: 'Merge a request that is approved and green.',
    defaults: { pollIntervalMs: 60_000, watchWindowMs: 7 * DAY_MS, budget: 2 },
    own: {
      strategy: strategy(),
      require_ci: requireCi(),
      delete_branch: byDefault(flag('Delete the branch after the merge.'), true),
      dry_run: byDefault(flag('Only log what would be merged.'), false),
      ci_grace_ms: byDefault(
        wholeNumber(
          { min: 0 },
          'With `require_ci`: how long a head must be seen without any check before it is merged; 0: no wait.',
        ),
        60_000,
      ),
    },
    options: (own, role) => ({
      strategy: own.strategy ?? role.strategy ?? ROLE_DEFAULTS.strategy,
      requireCi: own.require_ci ?? role.require_ci ?? ROLE_DEFAULTS.requireCi,
      deleteBranch: own.delete_branch,
      dryRun: own.dry_run,
      ciGraceMs: own.ci_grace_ms,
    }),
  }),
  merge_completion: reaction('merge_completion', {
    about: 'Finish the issue when its request is merged.',
    defaults: { pollIntervalMs: 60_000, watchWindowMs: 0, budget: 2 },
    own: {
      target_state: byDefault(
        filledText('State of the issue once its request is merged; one of `tracker.terminal_states`.'),
        'done',
      ),
    },
    options: (own) => ({ targetState: own.target_state.trim() }),
  }),
  label_commands: reaction('label_commands', {
    about: 'Let people start the agent by a label on the request.',
    defaults: { pollIntervalMs: 60_000, watchWindowMs: 0, budget: 3 },
    own: {
      review_label: byDefault(text('Label that asks for a review; empty: none.'), 'foray:review'),
      fix_label: byDefault(text('Label that asks for a fix; empty: none.'), 'foray:fix'),
    },
    options: (own) => ({ reviewLabel: own.review_label.trim(), fixLabel: own.fix_label.trim() }),
  }),
} satisfies { readonly [Kind in ReactionKind]: object };
