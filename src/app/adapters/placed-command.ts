import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * The program of an agent where it stands: `~` is the home folder, and a relative path is meant from the workflow file, like
 * every other path in it. What is not there is left to be found in the workspace.
 */
export function placedCommand(
  command: readonly string[] | null,
  workflowDir: string,
  home: string | undefined,
): readonly string[] | null {
  if (command === null) return null;
  const [program = '', ...rest] = command;
  if (program.startsWith('~/') && home !== undefined) return [path.join(home, program.slice(2)), ...rest];
  if (!program.includes('/') || path.isAbsolute(program)) return command;
  const beside = path.resolve(workflowDir, program);
  return existsSync(beside) ? [beside, ...rest] : command;
}
