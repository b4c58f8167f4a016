import type { IssueRef } from './issue.ts';

type Names = Pick<IssueRef, 'identifier' | 'displayIdentifier'>;

/** What people may call an issue, the surest first: its name as it is, its qualified form, `#` and its number, its name in another case. */
const NAMINGS: readonly ((issue: Names, name: string) => boolean)[] = [
  ({ identifier }, name) => identifier === name,
  ({ displayIdentifier }, name) => displayIdentifier === name,
  ({ identifier }, name) => identifier === numberIn(name),
  ({ identifier }, name) => identifier.toLowerCase() === name.toLowerCase(),
];

/** The number that a name such as `#12` is; null for any other. */
export function numberIn(name: string): string | null {
  return /^#(\d+)$/.exec(name)?.[1] ?? null;
}

export function isNamed(issue: Names, name: string): boolean {
  return NAMINGS.some((isMeant) => isMeant(issue, name));
}

/** What the first of these ways finds; undefined where none does. */
export function byName<Found>(name: string, find: (isMeant: (issue: Names) => boolean) => Found | undefined): Found | undefined {
  for (const isMeant of NAMINGS) {
    const found = find((issue) => isMeant(issue, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The name as an argument of a command that is told: quoted where a shell would read more than a word, after `--` where the
 * command would read a flag.
 */
export function issueArgument(identifier: string): string {
  const word = /^[\w./-]+$/.test(identifier) ? identifier : `'${identifier.replaceAll("'", `'\\''`)}'`;
  return identifier.startsWith('-') ? `-- ${word}` : word;
}
