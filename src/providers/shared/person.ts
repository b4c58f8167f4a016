import type { Person } from '../../domain/model/issue.ts';

/** A person by their names; the first that is there is also what they are known by where the remote gives no id. */
export function personOf(
  id: string | number | null | undefined,
  names: readonly (string | null | undefined)[],
  mayWrite: boolean | null = null,
): Person | null {
  const known: string[] = [];
  for (const name of names) if (name && name.trim() !== '' && !known.includes(name)) known.push(name);
  const key = id === null || id === undefined || id === '' ? (known[0]?.toLowerCase() ?? '') : String(id);
  return key === '' ? null : { id: key, names: known, mayWrite };
}

/** The last time that a label was put on, as one text; empty when the journal does not tell. */
export function lastLabelling(
  events: readonly { readonly id: string; readonly label: string; readonly added: boolean }[],
  label: string,
): string {
  return events.findLast((event) => event.added && event.label === label.toLowerCase())?.id ?? '';
}
