import type { Problem } from '../domain/model/problem.ts';
import { isPlainMap, type PlainMap } from './document.ts';

/** Keys that guard: who leaves the value out believes in a limit that is not there. */
const GUARDS = [
  'tracker.authors',
  'tracker.approval_label',
  'server.token',
  'server.webhooks.secret',
  'agent.max_cost_usd',
  'agent.max_tokens',
  'agent.max_sessions',
  'agent.max_attempts',
] as const;

/** A key without a value counts as not written, which is told of those that guard. */
export function guardsWithoutValue(data: PlainMap): readonly Problem[] {
  return GUARDS.filter((guard) => isEmpty(data, guard.split('.'))).map((guard) => ({
    severity: 'warning',
    check: 'config.no_value',
    message: `\`${guard}\` has no value and counts as not set`,
    key: guard.split('.'),
  }));
}

function isEmpty(at: unknown, [name = '', ...rest]: readonly string[]): boolean {
  if (!isPlainMap(at) || !Object.hasOwn(at, name)) return false;
  return rest.length === 0 ? at[name] === undefined : isEmpty(at[name], rest);
}
