import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

/** Git as a person uses it, with a name of her own. */
export function git(cwd: string, ...args: string[]): string {
  const author = ['-c', 'user.name=Rita', '-c', 'user.email=rita@example.org'];
  return execFileSync('git', [...author, ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** Commits a file and tells the commit. */
export function commit(cwd: string, file: string, text: string | Buffer, message: string): string {
  writeFileSync(path.join(cwd, file), text);
  git(cwd, 'add', '--all');
  git(cwd, 'commit', '--quiet', '-m', message);
  return git(cwd, 'rev-parse', 'HEAD');
}
