import type { z } from 'zod';
import { didYouMean } from '../lib/nearest-word.ts';
import { typeName } from './document.ts';

type Issue = z.core.$ZodIssue;

const MAX_SHOWN = 60;
/** Values of such keys are never shown, not even wrong ones. */
const SECRET_KEY = /(?:key|token|secret|password|credentials?)$/i;

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
};

/** What is wrong with a value, as the end of a sentence that begins with its key. */
export function faultText(issue: Issue, value: unknown): string {
  if (value === undefined) return 'is required';
  const last = String(issue.path.at(-1) ?? '');
  const found = shown(value, last);
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(issue.expected, value, found);
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}, got ${found}${near(value, issue.values.map(String))}`;
    case 'too_small':
      return issue.origin === 'string' && issue.minimum === 1
        ? 'must not be empty'
        : limit('at least', issue.origin, issue.minimum, found);
    case 'too_big':
      return limit('at most', issue.origin, issue.maximum, found);
    case 'invalid_union':
      return unionFault(issue, value, found);
    case 'custom':
      return issue.params?.['showValue'] === true ? `${issue.message}, got ${found}` : issue.message;
    default:
      return issue.message;
  }
}

/** The word that was probably meant. */
function near(value: unknown, known: readonly string[]): string {
  return typeof value === 'string' ? didYouMean(value, known) : '';
}

function wrongType(expected: string, value: unknown, found: string): string {
  const must = `must be ${EXPECTED[expected] ?? `of the type ${expected}`}`;
  if (expected !== 'string') return `${must}, got ${found}`;
  const quotable = typeof value === 'number' || typeof value === 'boolean';
  return `${must}, got ${typeName(value)}${quotable ? '; put it in quotes' : ''}`;
}

function limit(word: string, origin: string, bound: number | bigint, found: string): string {
  if (origin === 'array' || origin === 'set') return `must have ${word} ${bound} entries`;
  if (origin === 'string') return `must have ${word} ${bound} characters`;
  return `must be ${word} ${bound}, got ${found}`;
}

// Either no alternative takes this type at all, or one does and its own complaint is the useful one.
function unionFault(issue: z.core.$ZodIssueInvalidUnion, value: unknown, found: string): string {
  const branches = issue.errors.filter((branch) => branch.length > 0);
  const types = branches.map((branch) => branch[0]!).filter((first) => first.code === 'invalid_type' && first.path.length === 0);
  if (branches.length > 0 && types.length === branches.length) {
    const words = types.map((first) => (first.code === 'invalid_type' ? (EXPECTED[first.expected] ?? first.expected) : ''));
    return `must be ${[...new Set(words)].join(' or ')}, got ${found}`;
  }
  const fitting = branches.find((branch) => branch[0]!.code !== 'invalid_type' || branch[0]!.path.length > 0)?.[0];
  if (!fitting) return issue.message;
  const inner = fitting.path.reduce<unknown>((at, segment) => (at as Record<PropertyKey, unknown> | undefined)?.[segment], value);
  const where = fitting.path.length > 0 ? `at ${fitting.path.map(String).join('.')}: ` : '';
  return `${where}${faultText(fitting, inner)}`;
}

function shown(value: unknown, key: string): string {
  if (typeof value === 'object' || SECRET_KEY.test(key)) return typeName(value);
  const words = typeof value === 'string' ? JSON.stringify(value) : String(value as number | boolean);
  return words.length > MAX_SHOWN ? `${words.slice(0, MAX_SHOWN)}…` : words;
}
