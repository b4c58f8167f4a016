import type { TrackerInputs } from './settings.ts';

type Scope = Pick<TrackerInputs, 'project' | 'queryFilter'>;

/** What waits to be worked on, most urgent and then oldest first. */
export function candidatesJql(scope: Scope, states: readonly string[]): string {
  return `${scopeJql(scope, states)} ORDER BY priority ASC, created ASC`;
}

export function byStatesJql(scope: Scope, states: readonly string[]): string {
  return `${scopeJql(scope, states)} ORDER BY created ASC`;
}

/** Bare digits, since a quoted number is taken for a key. */
export function byIdsJql(ids: readonly string[]): string {
  return `id IN (${ids.join(', ')}) ORDER BY key ASC`;
}

export function byKeysJql(keys: readonly string[]): string {
  return `key IN (${quotedList(keys)}) ORDER BY key ASC`;
}

// The filter stands in parentheses: an OR in it would otherwise let in every project.
function scopeJql({ project, queryFilter }: Scope, states: readonly string[]): string {
  const status = states.length > 0 ? ` AND status IN (${quotedList(states)})` : '';
  return `project = ${quoted(project)}${status}${queryFilter === '' ? '' : ` AND (${queryFilter})`}`;
}

function quotedList(values: readonly string[]): string {
  return values.map(quoted).join(', ');
}

// Quotes are taken out; a backslash is doubled, for it would escape the closing quote.
function quoted(value: string): string {
  return `"${value.replaceAll('"', '').replaceAll('\\', '\\\\')}"`;
}
