import type { ReadOnlyGit } from '../git/read-only-git.ts';

/*
 * Whether a run made a commit. A guard against runs that did nothing, not against deceit: an agent that wants to can always
 * make an empty commit. So what git notes about its own doings is believed, and what cannot be told counts as made.
 */

/** All that commits can be found by: one line each, with the name where it is a branch of a remote. */
export async function marksOf(git: ReadOnlyGit): Promise<readonly string[]> {
  const refs = await refsOf(git);
  const others = await linesOf(git, ['rev-list', '--no-walk', '--reflog']);
  const named = refs.map((ref) => (isRemote(ref) ? `${ref.sha} ${ref.name}` : ref.sha));
  return [...new Set([...(await headOf(git)), ...others, ...named])].toSorted();
}

/** Whether there is a commit that was not there at the time of these marks and did not just come from others, or a branch was pushed. */
export async function hasMade(git: ReadOnlyGit, before: ReadonlySet<string>): Promise<boolean> {
  const known = new Set([...before].map((mark) => mark.split(' ')[0] ?? ''));
  const refs = await refsOf(git);
  const remotes = refs.filter((ref) => isRemote(ref));
  const moved = remotes.filter(({ sha, name }) => !before.has(`${sha} ${name}`)).map(({ name }) => name);
  const branches = refs.filter(({ sha, name, isElsewhere }) => name.startsWith('refs/heads/') && !isElsewhere && !known.has(sha));
  const tips = [...(await headOf(git)), ...branches.map(({ sha }) => sha)].filter((sha) => !known.has(sha));

  const log = await logOf(git, ['HEAD', ...branches.map(({ name }) => name)]);
  if (log.length === 0) return moved.length > 0 || reachesMore(git, tips, known);
  if (moved.length > 0 && hasPush(await logOf(git, moved), before)) return true;
  const theirs = [...remotes, ...refs.filter(({ isElsewhere }) => isElsewhere)].map(({ sha }) => sha);
  const fetched = await linesOf(git, ['rev-parse', '--quiet', '--verify', 'FETCH_HEAD']);
  if (await reachesMore(git, tips, new Set([...known, ...theirs, ...fetched]))) return true;
  // What others have too may still be from here: pushed by its address alone, or by a program that notes nothing.
  const moves = new Set(log.filter(({ deed }) => MOVES.test(deed)).map(({ sha }) => sha));
  const deeds = new Set(log.filter(({ deed }) => !MOVES.test(deed)).map(({ sha }) => sha));
  const own = tips.filter((sha) => !moves.has(sha));
  return reachesMore(git, tips.length > 0 ? [...own, ...deeds] : [], known);
}

/** What git notes when it goes to a commit that is there already. */
const MOVES =
  /^(?:checkout: |reset: |branch: |clone: |fetch\b|initial pull$)|^(?:merge|pull)\b.*: fast-forward$|^\S.* \((?:start|finish|abort)\):/i;

interface Ref {
  readonly sha: string;
  readonly name: string;
  /** Checked out by another worktree of the repository: the work of somebody else. */
  readonly isElsewhere: boolean;
}

const REFS = ['refs/heads', 'refs/tags', 'refs/stash', 'refs/remotes'];

async function refsOf(git: ReadOnlyGit): Promise<readonly Ref[]> {
  const lines = await linesOf(git, ['for-each-ref', '--format=%(objectname) %(refname) %(HEAD)%(worktreepath)', ...REFS]);
  const refs = lines.flatMap((line): readonly Ref[] => {
    const [, sha = '', name = '', own, place] = /^(\S+) (\S+) ?(\*?) ?(.*)$/.exec(line) ?? [];
    return sha === '' ? [] : [{ sha, name, isElsewhere: own === '' && place !== '' }];
  });
  return refs.filter(({ name }) => !/^refs\/remotes\/[^/]+\/HEAD$/.test(name));
}

function isRemote({ name }: Ref): boolean {
  return name.startsWith('refs/remotes/');
}

interface Noted {
  readonly sha: string;
  readonly name: string;
  readonly deed: string;
}

/** Settings may ask for more, by programs that they name. */
const PLAINLY = ['--no-show-signature', '--no-patch'];

/** What git noted about these names, the newest first; nothing where it notes nothing. */
async function logOf(git: ReadOnlyGit, names: readonly string[]): Promise<readonly Noted[]> {
  const lines = await linesOf(git, ['log', '--walk-reflogs', ...PLAINLY, '--format=%H %gD %gs', ...names]);
  return lines.flatMap((line): readonly Noted[] => {
    const [, sha = '', name = '', deed = ''] = /^(\S+) (\S+)@\{\d+\} (.*)$/.exec(line) ?? [];
    return sha === '' ? [] : [{ sha, name, deed }];
  });
}

/** Among what was noted since the names stood where they did before. */
function hasPush(log: readonly Noted[], before: ReadonlySet<string>): boolean {
  const past = new Set<string>();
  return log.some(({ sha, name, deed }) => {
    if (before.has(`${sha} ${name}`)) past.add(name);
    return !past.has(name) && deed === 'update by push';
  });
}

/** Whether these commits, or what they are made on, are more than the others lead to. */
async function reachesMore(git: ReadOnlyGit, commits: readonly string[], than: ReadonlySet<string>): Promise<boolean> {
  if (commits.length === 0) return false;
  const input = [...commits, ...[...than].map((sha) => `^${sha}`)].map((line) => `${line}\n`).join('');
  return (await git(['rev-list', '--max-count=1', '--ignore-missing', '--stdin'], { input })) !== '';
}

async function headOf(git: ReadOnlyGit): Promise<readonly string[]> {
  return linesOf(git, ['rev-parse', '--quiet', '--verify', 'HEAD']);
}

async function linesOf(git: ReadOnlyGit, args: readonly string[]): Promise<readonly string[]> {
  return ((await git(args)) ?? '').split('\n').filter((line) => line !== '');
}
