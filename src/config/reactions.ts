import {
  REACTION_KINDS,
  type ReactionBase,
  type ReactionKind,
  type ReactionSettings,
  type ScmConnection,
} from '../domain/model/settings.ts';
import { REACTION_DEFAULTS, ROLE_DEFAULTS, type RoleKeys } from './reaction-schema.ts';
import type { Sections } from './schema.ts';

type ReactionsSection = Sections['reactions'];

/** The reactions that are switched on, with the provider's block filling what they leave open. */
export function reactionSettings(section: ReactionsSection, role: RoleKeys, connection: ScmConnection | null): ReactionSettings {
  const on = onlyActive(section);
  return {
    provider: connection?.kind ?? null,
    connection,
    ...(on.ci_failure && { ciFailure: ciFailure(on.ci_failure, role) }),
    ...(on.review_comments && { reviewComments: reviewComments(on.review_comments) }),
    ...(on.bot_review && { botReview: botReview(on.bot_review, role) }),
    ...(on.merge_conflicts && { mergeConflicts: base('merge_conflicts', on.merge_conflicts) }),
    ...(on.auto_merge && { autoMerge: autoMerge(on.auto_merge, role) }),
    ...(on.merge_completion && { mergeCompletion: mergeCompletion(on.merge_completion) }),
    ...(on.label_commands && { labelCommands: labelCommands(on.label_commands) }),
  };
}

type Written<Kind extends ReactionKind> = NonNullable<ReactionsSection[Kind]>;

function ciFailure(own: Written<'ci_failure'>, role: RoleKeys): ReactionSettings['ciFailure'] {
  return { ...base('ci_failure', own), maxLogLines: own.max_log_lines ?? role.max_log_lines ?? ROLE_DEFAULTS.maxLogLines };
}

function reviewComments(own: Written<'review_comments'>): ReactionSettings['reviewComments'] {
  return { ...base('review_comments', own), debounceMs: own.debounce_ms };
}

function botReview(own: Written<'bot_review'>, role: RoleKeys): ReactionSettings['botReview'] {
  return { ...base('bot_review', own), botUsernames: own.bot_usernames ?? role.bot_usernames ?? ROLE_DEFAULTS.botUsernames };
}

function autoMerge(own: Written<'auto_merge'>, role: RoleKeys): ReactionSettings['autoMerge'] {
  return {
    ...base('auto_merge', own),
    strategy: own.strategy ?? role.strategy ?? ROLE_DEFAULTS.strategy,
    requireCi: own.require_ci ?? role.require_ci ?? ROLE_DEFAULTS.requireCi,
    deleteBranch: own.delete_branch,
    dryRun: own.dry_run,
  };
}

function mergeCompletion(own: Written<'merge_completion'>): ReactionSettings['mergeCompletion'] {
  return { ...base('merge_completion', own), targetState: own.target_state.trim() };
}

function labelCommands(own: Written<'label_commands'>): ReactionSettings['labelCommands'] {
  return { ...base('label_commands', own), reviewLabel: own.review_label.trim(), fixLabel: own.fix_label.trim() };
}

/** The section without the kinds that name no provider. */
export function onlyActive(section: ReactionsSection): ReactionsSection {
  return Object.fromEntries(activeKinds(section).map((kind) => [kind, section[kind]]));
}

export function activeKinds(section: ReactionsSection): readonly ReactionKind[] {
  return REACTION_KINDS.filter((kind) => section[kind]?.provider !== undefined);
}

function base(
  kind: ReactionKind,
  shared: Written<'merge_conflicts'> & { readonly max_continuation_turns?: number },
): ReactionBase {
  return {
    pollIntervalMs: shared.poll_interval_ms,
    watchWindowMs: shared.watch_window_ms,
    budget: shared.max_continuation_turns ?? shared.max_retries ?? REACTION_DEFAULTS[kind].budget,
    escalation: shared.escalation,
    escalationLabel: shared.escalation_label.trim(),
  };
}
