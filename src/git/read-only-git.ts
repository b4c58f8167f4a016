import { WorkspaceError } from '../domain/model/errors.ts';
import { runGit } from './command.ts';
import { clearPipes, refuseWorkPipes } from './pipes.ts';

/*
 * Imported by this name, not through the index: every daemon needs it, and the rest of git is loaded only where work is
 * delivered to a repository.
 */

/** Whom git runs as, where it is not the daemon's own user. */
type User = { readonly uid: number; readonly gid: number } | null;

/** A look at a repository that an agent can write. Null where git refuses or is not there; a timeout and an abort reject. */
export type ReadOnlyGit = (args: readonly string[], more?: GitInput) => Promise<string | null>;

export interface GitInput {
  readonly env?: Readonly<Record<string, string>>;
  /** For its standard input. */
  readonly input?: string;
}

/** Settings of the repository may name programs for these. */
const SAFE = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '--no-optional-locks'];

/** Objects that are missing are not fetched, which could run a program too. Older versions know the second alone. */
const WITHOUT_FETCHES = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' };

/** Git that changes nothing in a directory, reaches no network and knows no credential. A pipe does not hold it up. */
export function createReadOnlyGit(cwd: string, user: User, timeoutMs: number, signal: AbortSignal): ReadOnlyGit {
  const env = { PATH: process.env['PATH'] ?? '', GIT_TERMINAL_PROMPT: '0', ...WITHOUT_FETCHES };
  let cleared: Promise<void> | null = null;
  return async (args, more = {}) => {
    await (cleared ??= clear(cwd, user, signal));
    const command = { args: [...SAFE, ...args], cwd, env: { ...env, ...more.env }, user, timeoutMs };
    const result = await runGit(more.input === undefined ? command : { ...command, input: more.input }, signal).catch(
      nullIfMissing,
    );
    return result?.code === 0 ? result.stdout : null;
  };
}

async function clear(cwd: string, user: User, signal: AbortSignal): Promise<void> {
  await clearPipes(cwd, { mayRemove: user === null }, signal);
  await refuseWorkPipes(cwd);
}

function nullIfMissing(error: unknown): null {
  if (error instanceof WorkspaceError && !error.retryable) return null;
  throw error;
}
