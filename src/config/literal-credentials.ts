import type { Problem } from '../domain/model/problem.ts';
import { isPlainMap, type Key, type PlainMap } from './document.ts';

/** Warns of a credential that stands in the file itself, which is copied, shared and kept in a repository. */
export function checkLiteralCredentials(data: PlainMap, blocks: readonly string[]): readonly Problem[] {
  return [...blocks.map((block): Key => [block, 'api_key']), ...CREDENTIALS].flatMap((key) => {
    const value = key.reduce<unknown>((at, segment) => (isPlainMap(at) ? at[segment] : undefined), data);
    if (typeof value !== 'string' || !isCredential(value)) return [];
    const name = key.join('.');
    const message = `${name} holds the credential itself, for everyone who can read this file: keep it in a variable and write $NAME`;
    return [{ severity: 'warning' as const, check: `${name}.literal`, message, key }];
  });
}

function isCredential(value: string): boolean {
  return value.trim().length >= SHORTEST && !value.includes('$') && !PLACEHOLDER.test(value);
}

/** No vendor's tokens are shorter. */
const SHORTEST = 12;

/** What stands in examples and tries, and opens nothing. */
const PLACEHOLDER = /test|example|dummy|fake|placeholder|changeme/i;

/** Beside the blocks named after tracker kinds. */
const CREDENTIALS: readonly Key[] = [
  ['tracker', 'api_key'],
  ['workspace', 'repo_token'],
  ['server', 'token'],
  ['server', 'webhooks', 'secret'],
];
