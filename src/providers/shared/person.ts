import type { Person } from '../../domain/model/issue.ts';
import { normalName } from '../../domain/model/issue.ts';

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

/** A name that its owner chose. One in the form of an e-mail address or an account id is none: it would pass for another person's. */
export function chosenName(name: string | null | undefined): string | null {
  const text = name?.trim() ?? '';
  return /[@:]|^[\da-f]{24}$/i.test(text) ? null : (name ?? null);
}

/** The last time that a label was put on, as one text; empty when the journal does not tell. */
export function lastLabelling(
  events: readonly { readonly id: string; readonly label: string; readonly added: boolean }[],
  label: string,
): string {
  return events.findLast((event) => event.added && normalName(event.label) === normalName(label))?.id ?? '';
}
