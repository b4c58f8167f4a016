import { normalState, sameState, stateIn } from '../domain/model/issue.ts';
import type { Problem } from '../domain/model/problem.ts';
import type { ScmConnection } from '../domain/model/settings.ts';
import type { ReactionKind } from '../domain/model/reaction.ts';
import type { ProviderFacts } from '../ports/provider.ts';
import { blamingUnset, type ExpandedConnection, literalNote, unsetNote } from './expand.ts';
import { managedProjects } from './reaction-projects.ts';
import { activeKinds, type MergeRequestSide, onlyActive } from './reactions.ts';
import { REACTION_KINDS } from '../domain/reactions/registry.ts';
import { didYouMean } from '../lib/nearest-word.ts';
import { blockNames, writtenName } from './blocks.ts';
import { findProvider, type CheckedFrontMatter } from './check-front-matter.ts';
import type { ReadTracker } from './tracker.ts';
import { kindList } from './tracker-checks.ts';

const DEFAULT_USER_AGENT = 'svc/dev';

export interface CheckedReactions extends MergeRequestSide {
  readonly problems: readonly Problem[];
}

export interface ReactionCheckContext {
  readonly providers: readonly ProviderFacts[];
  /** The blocks named after tracker kinds, with references resolved, by canonical kind. */
  readonly blockConnections: ReadonlyMap<string, ExpandedConnection>;
  /** Null when the tracker's kind is unknown: then it is too early to say that a credential is missing. */
  readonly tracker: ReadTracker | null;
}

/** The checks of the reactions that look beyond one key, and the connection that they share. */
export function checkReactions(read: CheckedFrontMatter, context: ReactionCheckContext): CheckedReactions {
  const section = read.sections.reactions;
  const active = activeKinds(section).map((kind) => {
    const written = section[kind]?.provider;
    return { kind, written, provider: findProvider(context.providers, written) };
  });
  const problems: Problem[] = active.flatMap(({ kind, provider }) => checkRole(kind, provider, read, context.providers));
  problems.push(
    ...checkNamed(read, context),
    ...checkOneProvider(active),
    ...checkTargetState(read, context),
    ...checkLabels(read),
  );
  const { provider = null, written } = active.find((entry) => entry.provider?.roles.includes('scm')) ?? {};
  const trust = provider?.reviewTrust ?? 'collaborators';
  if (!provider || !context.tracker) return { connection: null, projects: [], trust, problems };
  const name = writtenName(provider, written);
  const connected = connect(provider, name, read, { ...context, tracker: context.tracker });
  const managed = managedProjects(provider, name, read, context.tracker);
  problems.push(...managed.problems, ...connected.problems);
  return { connection: connected.connection, projects: managed.projects, trust, problems };
}

interface ActiveReaction {
  readonly kind: ReactionKind;
  readonly written: string | undefined;
  readonly provider: ProviderFacts | null;
}

function checkRole(
  kind: ReactionKind,
  provider: ProviderFacts | null,
  read: CheckedFrontMatter,
  providers: readonly ProviderFacts[],
): readonly Problem[] {
  const able = providers.filter(({ roles }) => roles.includes('scm') && (kind !== 'ci_failure' || roles.includes('ci')));
  if (provider && able.includes(provider)) return [];
  const written = JSON.stringify(read.sections.reactions[kind]?.provider);
  const what = provider
    ? `the kind ${writtenName(provider, read.sections.reactions[kind]?.provider)} has no ${provider.roles.includes('scm') ? 'CI' : 'merge-request'} side`
    : `unknown kind ${written}`;
  const near = provider ? '' : didYouMean(String(read.sections.reactions[kind]?.provider), able.flatMap(blockNames));
  const message = `${what}; possible providers: ${kindList(able) || 'none'}${near}`;
  return [{ severity: 'error', check: `reactions.${kind}.provider`, message, key: ['reactions', kind, 'provider'] }];
}

/** A reaction is switched on by its provider: without one it does nothing, whatever else is written. */
function checkNamed(
  { sections: { reactions }, isFaulty }: CheckedFrontMatter,
  { tracker }: ReactionCheckContext,
): readonly Problem[] {
  const isForge = tracker?.provider.roles.includes('scm') ?? false;
  const proposed = isForge && tracker ? writtenName(tracker.provider, tracker.section.kind) : 'github, gitlab, gitea or forgejo';
  const idle = REACTION_KINDS.filter((kind) => reactions[kind] !== undefined && reactions[kind].provider === undefined);
  return idle.flatMap((kind): Problem[] => {
    const key = ['reactions', kind, 'provider'];
    if (isFaulty(key.join('.')) || isFaulty(`reactions.${kind}`)) return [];
    const message = `reactions.${kind} is off, for it names no provider: write provider: ${proposed}, or leave the reaction out`;
    return [{ severity: 'warning', check: `${key.join('.')}.missing`, message, key }];
  });
}

function checkOneProvider(active: readonly ActiveReaction[]): readonly Problem[] {
  const named = active.flatMap(({ kind, written, provider }) =>
    provider ? [{ kind, canonical: provider.kind, name: writtenName(provider, written) }] : [],
  );
  if (new Set(named.map(({ canonical }) => canonical)).size < 2) return [];
  const list = named.map(({ kind, name }) => `${kind} names ${name}`).join(', ');
  const odd = named.find(({ canonical }) => canonical !== named[0]?.canonical)!;
  const message = `all reactions must name the same provider: ${list}`;
  return [{ severity: 'error', check: 'reactions.provider', message, key: ['reactions', odd.kind, 'provider'] }];
}

function checkTargetState(read: CheckedFrontMatter, { tracker }: ReactionCheckContext): readonly Problem[] {
  const completion = onlyActive(read.sections.reactions).merge_completion;
  const check = 'reactions.merge_completion.target_state';
  if (!completion || !tracker || read.isFaulty(check)) return [];
  const { terminal_states: terminal = [], handoff_state: handoff } = tracker.section;
  const state = completion.target_state;
  const fault = (why: string): Problem => ({
    severity: 'error',
    check,
    message: `the target state ${JSON.stringify(state)} ${why}`,
    key: check.split('.'),
  });
  return [
    ...(stateIn(terminal, state) || read.isFaulty('tracker.terminal_states')
      ? []
      : [fault(`must be written in tracker.terminal_states${didYouMean(state, terminal)}`)]),
    ...(handoff !== undefined && sameState(handoff, state) ? [fault('must not be the handoff state')] : []),
  ];
}

function checkLabels(read: CheckedFrontMatter): readonly Problem[] {
  const active = onlyActive(read.sections.reactions);
  const problems: Problem[] = [];
  const commands = active.label_commands;
  if (commands) {
    const [review, fix] = [normalState(commands.review_label), normalState(commands.fix_label)];
    const key = ['reactions', 'label_commands'];
    const check = key.join('.');
    if (review === '' && fix === '')
      problems.push({ severity: 'error', check, message: 'review_label and fix_label are both empty', key });
    else if (review === fix) problems.push({ severity: 'error', check, message: 'review_label and fix_label must differ', key });
  }
  for (const kind of activeKinds(active)) {
    const { escalation, escalation_label: label } = active[kind]!;
    if (escalation !== 'label' || label.trim() !== '') continue;
    const key = ['reactions', kind, 'escalation_label'];
    problems.push({ severity: 'warning', check: key.join('.'), message: 'is empty: nobody will be asked by a label', key });
  }
  return problems;
}

/** The provider's own block, with the tracker's values filling gaps when it is of the same kind. */
function connect(
  provider: ProviderFacts,
  written: string,
  read: CheckedFrontMatter,
  context: ReactionCheckContext & { tracker: ReadTracker },
): { readonly connection: ScmConnection; readonly problems: readonly Problem[] } {
  const { kind } = provider;
  const block = read.blocks.providers.get(kind);
  const own = context.blockConnections.get(kind) ?? null;
  const name = block?.isWritten ? block.name : written;
  const fallback = context.tracker.provider.kind === kind ? context.tracker.connection : null;
  const pick = (key: keyof ExpandedConnection) => own?.[key]?.value || fallback?.[key]?.value || '';
  const connection: ScmConnection = {
    kind,
    name,
    apiKey: pick('api_key'),
    endpoint: pick('endpoint') || provider.defaults.endpoint,
    project: pick('project'),
    userAgent: block?.role.user_agent ?? DEFAULT_USER_AGENT,
  };
  const needsProject = provider.requires.ciProject === true && onlyActive(read.sections.reactions).ci_failure !== undefined;
  const needed = { api_key: provider.requires.apiKey, endpoint: provider.requires.endpoint, project: needsProject };
  const value = { api_key: connection.apiKey.trim(), endpoint: connection.endpoint, project: connection.project };
  const problems = (['api_key', 'endpoint', 'project'] as const).flatMap((key): Problem[] => {
    if (block?.faulty.has(key)) return [];
    // With a tracker of the same kind, its own missing key has been reported already.
    if (needed[key] && value[key] === '') return fallback ? [] : [missingKey(kind, name, written, key, own)];
    return (own?.[key]?.unset.length ?? 0) > 0 ? [incompleteKey(kind, name, key, own)] : [];
  });
  const faults = provider.connectionFaults?.(connection) ?? {};
  const wrong = (['endpoint', 'project'] as const).flatMap((key): Problem[] => {
    // The tracker's own values are judged by its own checks.
    const isOwn = (own?.[key]?.value ?? '') !== '';
    return isOwn && faults[key] !== undefined ? [unusableKey(kind, name, key, faults[key])] : [];
  });
  const literal = (['endpoint', 'project'] as const).flatMap((key): Problem[] => {
    const note = literalNote(block?.role[key], provider.expansion[key]);
    const message = `${name}.${key}: ${note}`;
    return note === null ? [] : [{ severity: 'warning', check: `${kind}.${key}.not_expanded`, message, key: [name, key] }];
  });
  return { connection, problems: [...problems, ...wrong, ...literal] };
}

function missingKey(
  kind: string,
  name: string,
  written: string,
  key: keyof ExpandedConnection,
  own: ExpandedConnection | null,
): Problem {
  const places = `set \`${name}.${key}\`, or \`tracker.${key}\` with tracker.kind ${written}`;
  const value = own?.[key] ?? null;
  const message = `${name}.${key} is required for reactions with provider ${written}${unsetNote(value)}; ${places}`;
  const place = own === null ? ['reactions'] : [name, key];
  return blamingUnset({ severity: 'error', check: `${kind}.${key}`, message, key: place }, value);
}

function incompleteKey(kind: string, name: string, key: keyof ExpandedConnection, own: ExpandedConnection | null): Problem {
  const value = own?.[key] ?? null;
  const message = `${name}.${key} is incomplete${unsetNote(value)}`;
  return blamingUnset({ severity: 'warning', check: `${kind}.${key}.unset_variable`, message, key: [name, key] }, value);
}

/** What its adapter would be refused with when it is built. */
function unusableKey(kind: string, name: string, key: keyof typeof UNUSABLE, fault: string): Problem {
  const message = `tracker_payload_error: ${name}.${key} ${fault}`;
  return { severity: 'error', check: `${kind}.${key}.${UNUSABLE[key]}`, message, key: [name, key] };
}

/** Named as the same checks of the tracker are. */
const UNUSABLE = { endpoint: 'invalid', project: 'format' } as const;
