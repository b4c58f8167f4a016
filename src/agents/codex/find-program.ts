import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';

/** What keeps the program from being started, or null. Looks as a start would, and starts nothing. */
export async function programProblem(program: string, env: Readonly<Record<string, string>>): Promise<string | null> {
  const states = await Promise.all(placesOf(program, env).map(look));
  if (states.length > 0 && !states.includes('found')) {
    const isThere = states.includes('not executable');
    return isThere ? `the program ${program} is not executable by this user` : `cannot find the program ${program}`;
  }
  return states.length === 0 && !program.includes('/') ? `cannot find the program ${program}: PATH is empty` : null;
}

/** A relative path is meant from the workspace, which is not known yet: it has no place to look at. */
function placesOf(program: string, env: Readonly<Record<string, string>>): string[] {
  if (program.includes('/')) return path.isAbsolute(program) ? [program] : [];
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => path.join(folder, program));
}

async function look(file: string): Promise<'found' | 'missing' | 'not executable'> {
  const found = await stat(file).catch(() => null);
  if (!found?.isFile()) return 'missing';
  return access(file, constants.X_OK).then(
    () => 'found' as const,
    () => 'not executable' as const,
  );
}
