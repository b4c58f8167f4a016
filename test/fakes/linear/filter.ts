import { invalidInput } from './failures.ts';

type Plain = Readonly<Record<string, unknown>>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a record fits one of the vendor's filters: members are ANDed, and text is compared with its case. */
export function fits(filter: unknown, value: unknown): boolean {
  if (!isPlain(filter)) return true;
  return Object.entries(filter).every(([key, condition]) => fitsOne(key, condition, value));
}

function fitsOne(key: string, condition: unknown, value: unknown): boolean {
  if (key === 'and') return (condition as unknown[]).every((part) => fits(part, value));
  if (key === 'or') return (condition as unknown[]).some((part) => fits(part, value));
  if (key === 'null') return (value === null) === condition;
  if (Array.isArray(value)) return fitsList(key, condition, value);
  const compare = COMPARISONS[key];
  if (compare) return compare(value, condition);
  if (key === 'id') refuseOtherIds(condition);
  return isPlain(value) && fits(condition, value[key]);
}

// A list fits when some entry does, unless it says otherwise.
function fitsList(key: string, condition: unknown, list: readonly unknown[]): boolean {
  if (key === 'length') return fits(condition, list.length);
  if (key === 'every') return list.every((entry) => fits(condition, entry));
  const wanted = key === 'some' ? condition : { [key]: condition };
  return list.some((entry) => fits(wanted, entry));
}

// One id of a wrong form spoils the whole request.
function refuseOtherIds(condition: unknown): void {
  const ids = isPlain(condition) ? Object.values(condition).flat() : [];
  if (!ids.every((id) => typeof id === 'string' && UUID.test(id))) throw invalidInput('id must be a UUID.');
}

const lower = (value: unknown): string => String(value).toLowerCase();
const COMPARISONS: Readonly<Record<string, (value: unknown, given: unknown) => boolean>> = {
  eq: (value, given) => value === given,
  neq: (value, given) => value !== given,
  in: (value, given) => (given as unknown[]).includes(value),
  nin: (value, given) => !(given as unknown[]).includes(value),
  lt: (value, given) => Number(value) < Number(given),
  lte: (value, given) => Number(value) <= Number(given),
  gt: (value, given) => Number(value) > Number(given),
  gte: (value, given) => Number(value) >= Number(given),
  contains: (value, given) => String(value).includes(String(given)),
  notContains: (value, given) => !String(value).includes(String(given)),
  startsWith: (value, given) => String(value).startsWith(String(given)),
  endsWith: (value, given) => String(value).endsWith(String(given)),
  eqIgnoreCase: (value, given) => lower(value) === lower(given),
  neqIgnoreCase: (value, given) => lower(value) !== lower(given),
  containsIgnoreCase: (value, given) => lower(value).includes(lower(given)),
};

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
