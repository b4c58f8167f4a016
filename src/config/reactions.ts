import {
  REACTION_KINDS,
  type ReactionBase,
  type ReactionKind,
  type ReactionOptions,
  type ReactionSettings,
  type ScmConnection,
  type Trust,
} from '../domain/model/settings.ts';
import { REACTION_KEYS, type RoleKeys } from './reaction-keys.ts';
import type { Sections } from './schema.ts';

type ReactionsSection = Sections['reactions'];
type Written<Kind extends ReactionKind> = NonNullable<ReactionsSection[Kind]>;

/** The reactions that are switched on, with the provider's block filling what they leave open. */
export function reactionSettings(section: ReactionsSection, role: RoleKeys, side: MergeRequestSide): ReactionSettings {
  const { connection, projects, trust } = side;
  const entries = activeKinds(section).map((kind) => [kind, optionsOf(kind, section, { ...role, trust })]);
  const on = Object.fromEntries(entries) as Partial<ReactionOptions>;
  return { provider: connection?.kind ?? null, connection, projects, votes: on.review_comments?.trust ?? trust, on };
}

/** What the checks found out about the forge of the reactions. */
export interface MergeRequestSide {
  /** Null when no reaction is on, or when their provider cannot be used. */
  readonly connection: ScmConnection | null;
  /** Whose merge requests are looked after. */
  readonly projects: readonly string[];
  /** Whose reviews count where nothing else is written. */
  readonly trust: Trust;
}

function optionsOf(kind: ReactionKind, section: ReactionsSection, role: RoleKeys & { trust: Trust }): ReactionBase {
  // Each member of the table takes what its own schema made; the compiler cannot follow both through one name.
  const options = REACTION_KEYS[kind].options as (own: unknown, role: object) => object;
  const written = section[kind];
  if (!written) throw new Error(`${kind} is not written`);
  return { ...baseOf(kind, written), ...options(written, role) };
}

function baseOf(
  kind: ReactionKind,
  shared: Written<'merge_conflicts'> & { readonly max_continuation_turns?: number },
): ReactionBase {
  return {
    pollIntervalMs: shared.poll_interval_ms,
    watchWindowMs: shared.watch_window_ms,
    budget: shared.max_continuation_turns ?? shared.max_retries ?? REACTION_KEYS[kind].defaults.budget,
    escalation: shared.escalation,
    escalationLabel: shared.escalation_label.trim(),
  };
}

/** The section without the kinds that name no provider. */
export function onlyActive(section: ReactionsSection): ReactionsSection {
  return Object.fromEntries(activeKinds(section).map((kind) => [kind, section[kind]]));
}

export function activeKinds(section: ReactionsSection): readonly ReactionKind[] {
  return REACTION_KINDS.filter((kind) => section[kind]?.provider !== undefined);
}
