import type { ReactionBase, ReactionKind, ReactionOptions } from '../domain/model/reaction.ts';
import type { ReactionSettings, ScmConnection, Trust } from '../domain/model/settings.ts';
import { camelCase } from '../domain/model/data-shape.ts';
import type { ReactionDefaults, ReactionKey } from '../domain/reactions/reaction.ts';
import { REACTION_KINDS, reactionOf } from '../domain/reactions/registry.ts';
import type { PlainMap } from './document.ts';
import { forgeIdentity } from './identity.ts';
import type { RoleKeys, WrittenReaction } from './reaction-keys.ts';
import type { Sections } from './schema.ts';

type ReactionsSection = Sections['reactions'];

/** The reactions that are switched on, with the provider's block filling what they leave open. */
export function reactionSettings(section: ReactionsSection, role: RoleKeys, side: MergeRequestSide): ReactionSettings {
  const { connection, projects, trust } = side;
  const entries = activeKinds(section).map((kind) => [kind, optionsOf(kind, section, { ...role, trust })]);
  const on = Object.fromEntries(entries) as Partial<ReactionOptions>;
  const forge = connection && { forge: forgeIdentity(connection.kind, connection.endpoint) };
  return { provider: connection?.kind ?? null, ...forge, connection, projects, votes: on.review_comments?.trust ?? trust, on };
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
  const written: PlainMap & WrittenReaction = section[kind]!;
  const { keys, defaults } = reactionOf(kind);
  const own = Object.entries(keys).map(([name, key]) => [camelCase(name), valueOf(name, key, written, role)]);
  return { ...baseOf(written, defaults), ...Object.fromEntries(own) };
}

/** What the reaction says, then what its provider's block says, then the default. */
function valueOf(name: string, key: ReactionKey, written: PlainMap, role: PlainMap & { trust: Trust }): unknown {
  const fallback = key.type === 'trust' ? role.trust : key.default;
  const value = written[name] ?? (key.inBlock && role[name]) ?? fallback;
  return typeof value === 'string' ? value.trim() : value;
}

function baseOf(written: WrittenReaction, { budget }: ReactionDefaults): ReactionBase {
  return {
    pollIntervalMs: written.poll_interval_ms,
    watchWindowMs: written.watch_window_ms,
    budget: written.max_continuation_turns ?? written.max_retries ?? budget,
    escalation: written.escalation,
    escalationLabel: written.escalation_label.trim(),
  };
}

/** The section without the kinds that name no provider. */
export function onlyActive(section: ReactionsSection): ReactionsSection {
  return Object.fromEntries(activeKinds(section).map((kind) => [kind, section[kind]]));
}

export function activeKinds(section: ReactionsSection): readonly ReactionKind[] {
  return REACTION_KINDS.filter((kind) => section[kind]?.provider !== undefined);
}
