import type { Problem } from '../domain/model/problem.ts';
import { blamingUnset, type Env, expand, type Expanded, unsetNote, valueIn } from './expand.ts';
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
  const { address, secrets } = expandAddress(section.url, env);
  const message = addressProblem(address);
  if (message === null) return { url: address.value, problems: [], secrets };
  const problem = { severity: 'error', check: 'store.url', message, key: ['store', 'url'] } as const;
  return { url: null, problems: [blamingUnset(problem, address)], secrets };
}

/** What is wrong with the address of a database, or null. */
export function addressProblem(address: Expanded): string | null {
  if (address.value.trim() === '') return `must not be empty${unsetNote(address)}`;
  if (address.unset.length > 0) return `must be whole${unsetNote(address)}`;
  const url = URL.canParse(address.value) ? new URL(address.value) : null;
  if (url?.protocol !== 'postgres:' && url?.protocol !== 'postgresql:') return NO_ADDRESS;
  const mode = url.searchParams.get('sslmode');
  return mode === null || TLS_MODES.includes(mode) ? null : `sslmode must be one of ${TLS_MODES.join(', ')}`;
}

const NO_ADDRESS =
  'must be the address of a PostgreSQL database: postgres://HOST:5432/DATABASE, USER:PASSWORD@ before the host, with / ? # @ and % in them written as %2F %3F %23 %40 %25';
const TLS_MODES: readonly string[] = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'];

/**
 * The address of a database with its references filled in. A password that is not in it comes from PGPASSWORD, as for every
 * client of PostgreSQL; it is then a credential of ours like any other.
 */
export function expandAddress(written: string, env: Env): { readonly address: Expanded; readonly secrets: readonly Expanded[] } {
  const address = expand(written, 'anywhere', env);
  if (!URL.canParse(address.value)) return { address, secrets: [address] };
  const url = new URL(address.value);
  const given = [url.password, decoded(url.password), ...url.searchParams.getAll('password')].filter((text) => text !== '');
  const elsewhere = valueIn(env, PASSWORD_VARIABLE);
  if (given.length > 0 || elsewhere === '') return { address, secrets: [address, ...[...new Set(given)].map(secretOf)] };
  url.password = elsewhere;
  const whole = { ...address, value: url.href };
  return { address: whole, secrets: [address, whole, { ...secretOf(elsewhere), variables: [PASSWORD_VARIABLE] }] };
}

const PASSWORD_VARIABLE = 'PGPASSWORD';

/** The password alone is a secret too, as it is written and as it is meant. */
function secretOf(value: string): Expanded {
  return { value, variables: [], unset: [] };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
