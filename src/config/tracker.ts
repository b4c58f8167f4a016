import { normalName, stateIn } from '../domain/model/issue.ts';
import type { Problem } from '../domain/model/problem.ts';
import type { TrackerSettings } from '../domain/model/settings.ts';
import type { ProviderFacts, ProviderCheckInput } from '../ports/provider.ts';
import type { PlainMap } from './document.ts';
import { type ExpandedConnection, type Env, type Expanded, expandConnection } from './expand.ts';
import { fullName, writtenName } from './blocks.ts';
import { identityOf } from './identity.ts';
import type { RoleKeys } from './reaction-keys.ts';
import type { Sections } from './schema.ts';

type TrackerSection = Sections['tracker'];

/** The tracker block with its kind known and its references resolved. */
export interface ReadTracker {
  readonly provider: ProviderFacts;
  readonly section: TrackerSection;
  readonly connection: ExpandedConnection;
  /** Null when the kind's own block does not fit its schema. */
  readonly options: PlainMap | null;
  readonly states: TrackerStates;
}

/** The state lists as they take effect, without blanks. */
export interface TrackerStates {
  /** States that gate dispatch. */
  readonly active: readonly string[];
  /** States that an issue may be said to be in, also where the list does not gate dispatch. */
  readonly derived: readonly string[];
  readonly terminal: readonly string[];
}

export function readTracker(provider: ProviderFacts, section: TrackerSection, options: PlainMap | null, env: Env): ReadTracker {
  return {
    provider,
    section,
    options,
    connection: expandConnection(section, provider.expansion, env),
    states: statesOf(provider, section),
  };
}

export function trackerSettings(
  { provider, section, connection, options, states }: ReadTracker,
  role: RoleKeys,
  workflowDir: string,
): TrackerSettings {
  const { comments } = section;
  const project = valueOf(connection.project);
  const endpoint = valueOf(connection.endpoint) || provider.defaults.endpoint;
  const place = provider.place?.locate(options ?? {}, workflowDir);
  return {
    kind: provider.kind,
    name: writtenName(provider, section.kind),
    identity: place === undefined ? identityOf(provider.kind, endpoint, project) : `${provider.kind} ${place}`,
    apiKey: valueOf(connection.api_key),
    project,
    endpoint,
    activeStates: states.active,
    terminalStates: states.terminal,
    handoffState: trimmed(section.handoff_state),
    inProgressState: trimmed(section.in_progress_state),
    noChangeState: trimmed(section.no_change_state ?? section.handoff_state),
    queryFilter: section.query_filter ?? '',
    authors: section.authors,
    approvalLabel: section.approval_label === undefined ? null : normalName(section.approval_label.trim()),
    quotaReservePercent: section.quota_reserve_percent,
    userAgent: section.user_agent ?? role.user_agent ?? null,
    comments: { onDispatch: comments.on_dispatch, onCompletion: comments.on_completion, onFailure: comments.on_failure },
    options: options ?? {},
  };
}

function valueOf(expanded: Expanded | null): string {
  return expanded?.value ?? '';
}

function trimmed(text: string | undefined): string | null {
  return text?.trim() ?? null;
}

/** The kind's own checks; they need options that fit its schema. */
export function checkProvider(
  { provider, section, connection, options }: ReadTracker,
  env: Env,
  workflowDir: string,
): readonly Problem[] {
  if (options === null) return [];
  const input: ProviderCheckInput = {
    kindName: fullName(provider, section.kind),
    apiKey: connection.api_key?.value ?? null,
    // Empty means the same as not written here; the missing key has been reported already where it is required.
    project: connection.project?.value || null,
    endpoint: connection.endpoint?.value || null,
    activeStates: section.active_states ?? null,
    terminalStates: section.terminal_states ?? null,
    handoffState: section.handoff_state ?? null,
    inProgressState: section.in_progress_state ?? null,
    noChangeState: section.no_change_state ?? null,
    queryFilter: section.query_filter ?? null,
    options,
    env,
    workflowDir,
  };
  return provider.check(input);
}

function statesOf(provider: ProviderFacts, section: TrackerSection): TrackerStates {
  const { defaults } = provider;
  const activeWritten = section.active_states && filled(section.active_states);
  const terminalWritten = section.terminal_states && filled(section.terminal_states);
  // Where the defaults only derive states, an empty list derives by them too, and dispatches nothing.
  const orDefault = (written: readonly string[] | undefined, fallback: readonly string[]) =>
    written === undefined || (written.length === 0 && !defaults.activeStatesGateDispatch) ? fallback : written;
  const derived = orDefault(activeWritten, defaults.activeStates);
  return {
    active: defaults.activeStatesGateDispatch ? derived : (activeWritten ?? []),
    derived,
    terminal: orDefault(terminalWritten, defaults.terminalStates),
  };
}

function filled(states: readonly string[]): readonly string[] {
  return states.map((state) => state.trim()).filter((state) => state !== '');
}

/** States that stand in both lists. */
export function overlapOf(states: TrackerStates): readonly string[] {
  return states.derived.filter((state) => stateIn(states.terminal, state));
}
