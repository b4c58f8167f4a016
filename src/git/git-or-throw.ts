import { WorkspaceError } from '../domain/model/errors.ts';
import { subcommandOf } from './command.ts';
import type { Repository } from './repository.ts';

/** Runs git without a credential and insists on success. */
export async function gitOrThrow(
  repository: Repository,
  cwd: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const result = await repository.local(cwd, args, signal);
  if (result.code === 0) return result.stdout;
  throw new WorkspaceError('git', `git ${subcommandOf(args)}: ${result.stderr.trim().slice(-400)}`, { retryable: true });
}
