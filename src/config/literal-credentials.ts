import type { Problem } from '../domain/model/problem.ts';
import { isPlainMap, type Key, type PlainMap } from './document.ts';

/** Warns of a credential that stands in the file itself, which is copied, shared and kept in a repository. */
export function checkLiteralCredentials(data: PlainMap, blocks: readonly string[]): readonly Problem[] {
  const targets = Array.isArray(data['notifications']) ? data['notifications'].length : 0;
  const suspects: readonly Suspect[] = [
    ...blocks.map((block): Suspect => ({ key: [block, 'api_key'], isCredential })),
    ...['tracker', ...blocks].map((block): Suspect => ({ key: [block, 'endpoint'], isCredential: hasPassword })),
    ...CREDENTIALS.map((key): Suspect => ({ key, isCredential })),
    { key: ['store', 'url'], isCredential: hasPassword },
    ...Array.from({ length: targets }, (_, index): readonly Suspect[] => [
      { key: ['notifications', index, 'url'], isCredential: hasSecretPath },
      { key: ['notifications', index, 'secret'], isCredential },
    ]).flat(),
  ];
  return suspects.flatMap(({ key, isCredential: holdsOne }) => {
    const value = key.reduce<unknown>(valueIn, data);
    if (typeof value !== 'string' || !holdsOne(value)) return [];
    const name = key.filter((segment) => typeof segment === 'string').join('.');
    const message = `${name} holds the credential itself, for everyone who can read this file: keep it in a variable and write $NAME`;
    return [{ severity: 'warning' as const, check: `${name}.literal`, message, key }];
  });
}

/** A key whose value may be a credential, and what one looks like there. */
interface Suspect {
  readonly key: Key;
  readonly isCredential: (value: string) => boolean;
}

function valueIn(at: unknown, segment: string | number): unknown {
  if (Array.isArray(at)) return (at as unknown[])[Number(segment)];
  return isPlainMap(at) ? at[segment] : undefined;
}

function isCredential(value: string): boolean {
  return value.trim().length >= SHORTEST && isMeant(value);
}

/** Of the address of a database or a server the password alone is secret. */
function hasPassword(value: string): boolean {
  if (!URL.canParse(value) || !isMeant(value)) return false;
  const { password, searchParams } = new URL(value);
  return password !== '' || (searchParams.get('password') ?? '') !== '';
}

/** Whoever knows the address of a webhook can post to it. */
function hasSecretPath(value: string): boolean {
  return URL.canParse(value) && isCredential(new URL(value).pathname) && isMeant(value);
}

function isMeant(value: string): boolean {
  return !value.includes('$') && !PLACEHOLDER.test(value);
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
