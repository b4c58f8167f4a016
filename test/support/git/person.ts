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

/** A repository `shop.git` in this folder with one commit on `trunk`, and the clone `seed` that it was pushed from. */
export function makeRemote(home: string): string {
  const remote = path.join(home, 'shop.git');
  const seed = path.join(home, 'seed');
  git(home, 'init', '--quiet', '--bare', '--initial-branch=trunk', remote);
  git(home, 'clone', '--quiet', remote, seed);
  commit(seed, 'README.md', 'hello', 'first');
  git(seed, 'push', '--quiet', 'origin', 'HEAD:trunk');
  return remote;
}
