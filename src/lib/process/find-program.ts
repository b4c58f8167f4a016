import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';

export type ProgramState = 'found' | 'missing' | 'directory' | 'not_executable';

/** Looks for a program as a start would: on the PATH of `env`, or at its path. Starts nothing. */
export async function findProgram(program: string, env: Readonly<Record<string, string>>): Promise<ProgramState> {
  // Such a path is meant from the workspace, which is not known yet.
  if (program.includes('/') && !path.isAbsolute(program)) return 'found';
  if (path.isAbsolute(program)) return look(program);
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  const states = await Promise.all(folders.map((folder) => look(path.join(folder, program))));
  if (states.includes('found')) return 'found';
  return states.includes('not_executable') ? 'not_executable' : 'missing';
}

async function look(file: string): Promise<ProgramState> {
  try {
    const found = await stat(file);
    if (found.isDirectory()) return 'directory';
    if (!found.isFile()) return 'missing';
  } catch {
    return 'missing';
  }
  return access(file, constants.X_OK).then(
    () => 'found' as const,
    () => 'not_executable' as const,
  );
}
