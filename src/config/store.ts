import type { Problem } from '../domain/model/problem.ts';
import { type Env, expand, type Expanded, unsetNote } from './expand.ts';
import type { Sections } from './schema.ts';

export interface ReadStore {
  /** The database of a fleet; null for the file of `db_path`. */
  readonly url: string | null;
  readonly problems: readonly Problem[];
  /** Values that must not be shown. */
  readonly secrets: readonly Expanded[];
}

/** The store section with its address filled in, and what is wrong with it. */
export function readStore(section: Sections['store'], env: Env): ReadStore {
  if (section.url === undefined) return { url: null, problems: [], secrets: [] };
  const url = expand(section.url, 'anywhere', env);
  const problem = problemOf(url);
  if (problem !== null) return { url: null, problems: [problem], secrets: [url] };
  return { url: url.value, problems: [], secrets: [url, ...passwordOf(url)] };
}

function problemOf(url: Expanded): Problem | null {
  const refuse = (message: string): Problem => ({ severity: 'error', check: 'store.url', message, key: ['store', 'url'] });
  if (url.value.trim() === '') return refuse(`must not be empty${unsetNote(url)}`);
  const { protocol } = URL.canParse(url.value) ? new URL(url.value) : { protocol: '' };
  if (protocol === 'postgres:' || protocol === 'postgresql:') return null;
  return refuse('must be the address of a PostgreSQL database: postgres://HOST:5432/DATABASE, USER:PASSWORD@ before the host');
}

/** The password alone is a secret too, as it is written and as it is meant. */
function passwordOf({ value }: Expanded): readonly Expanded[] {
  const { password } = new URL(value);
  return [...new Set([password, decoded(password)])]
    .filter((text) => text !== '')
    .map((text) => ({ value: text, variables: [], unset: [] }));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
