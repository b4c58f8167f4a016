import { readFile } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Problem } from '../domain/model/problem.ts';
import { referencesIn, valueIn, type Env } from './expand.ts';
import { errorText } from '../lib/error-text.ts';

export interface CredentialFiles {
  /** The environment with what the files hold. */
  readonly env: Env;
  /** What went wrong, by the variable that was to be read. */
  readonly faults: ReadonlyMap<string, Problem>;
}

/** Longer is no credential. */
const MOST_CHARACTERS = 64 * 1024;

/**
 * A variable that the text refers to and that is not set may come from a file: the one that `NAME_FILE` names, or the
 * one called NAME in the folder of systemd's credentials.
 */
export async function readCredentialFiles(text: string, env: Env, workflowDir: string): Promise<CredentialFiles> {
  const found: Record<string, string> = {};
  const faults = new Map<string, Problem>();
  for (const name of referencesIn(text)) {
    if (valueIn(env, name) !== '') continue;
    const place = placeOf(name, env, workflowDir);
    if (place === null) continue;
    try {
      found[name] = credentialIn(await promisify(readFile)(place.file, 'utf8'));
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!(place.isOneOfMany && isMissing)) faults.set(name, unreadable(name, place, error));
    }
  }
  return { env: { ...env, ...found }, faults };
}

interface Place {
  readonly file: string;
  readonly variable: string;
  /** A folder of credentials need not hold every one. */
  readonly isOneOfMany: boolean;
}

function placeOf(name: string, env: Env, workflowDir: string): Place | null {
  const named = valueIn(env, `${name}_FILE`);
  if (named !== '') return { file: path.resolve(workflowDir, named), variable: `${name}_FILE`, isOneOfMany: false };
  const folder = valueIn(env, 'CREDENTIALS_DIRECTORY');
  return folder === '' ? null : { file: path.join(folder, name), variable: 'CREDENTIALS_DIRECTORY', isOneOfMany: true };
}

/** Editors and `echo` end a file with a line break. */
function credentialIn(text: string): string {
  if (text.length > MOST_CHARACTERS) throw new Error('it is too long for a credential');
  const credential = text.replace(/[\r\n]+$/, '');
  if (credential.trim() === '') throw new Error('it is empty');
  return credential;
}

function unreadable(name: string, { file, variable, isOneOfMany }: Place, error: unknown): Problem {
  const reason = errorText(error);
  return {
    severity: 'error',
    check: 'credentials.unreadable',
    message: `$${name} is to come from the file ${isOneOfMany ? `in the folder that ${variable} names` : `that ${variable} names`}, ${file}, which cannot be read: ${reason}`,
  };
}
