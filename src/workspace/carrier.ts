import { open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { WorkspaceError } from '../domain/model/errors.ts';
import {
  createBundle,
  GitRefusal,
  gitOrThrow,
  noteLanded,
  offeredRef,
  pushedCommit,
  pushedRef,
  pushFromControl,
  tooLarge,
} from '../git/index.ts';
import type { Repository } from '../git/index.ts';
import { makeDirectories } from '../lib/make-directories.ts';
import { MOST_BYTES, PART_BYTES, type Carrier, type Packed } from '../ports/carrier.ts';
import type { OverRequest } from '../ports/scm.ts';
import type { WorkspaceSubject } from '../ports/workspace.ts';
import { branchOf } from './branch-name.ts';
import { findOrOpen, logPush, tellOver, type DeliveryDeps } from './delivery.ts';

/** Carries one run's commits between its machine and the remote. Nothing of it is left when it is closed. */
export interface OwnCarrier extends Carrier {
  close(): Promise<void>;
}

/** For the run with this id. What the other side sends is checked: it may be anything. */
export function createCarrier(deps: DeliveryDeps, subject: WorkspaceSubject, runId: string): OwnCarrier {
  const { repository, begun } = deps;
  const branch = branchOf(subject.identifier);
  const folder = path.join(path.dirname(repository.control), 'carried', runId);
  const [packFile, workFile] = [path.join(folder, 'pack'), path.join(folder, 'work')];
  let [isBegun, isPushed] = [false, false];
  let over: OverRequest | null = null;
  /** Where the branch was when the other side last looked. */
  let seen: string | null = null;
  return {
    async pack(have, signal) {
      await repository.refresh(signal);
      await noteLanded(repository, branch, signal);
      if (!isBegun && deps.push) await begun.begin(branch, signal);
      isBegun = true;
      await clearLeftovers(path.dirname(folder));
      await makeDirectories(folder, 0o700);
      const packed = await repository.exclusively(() => pack(repository, { branch, have, file: packFile }, signal));
      seen = new Map(packed.refs).get(`refs/heads/${branch}`) ?? null;
      return packed;
    },
    readPack: (at) => readPart(packFile, at),
    addWork: (at, part) => addPart(workFile, at, part),
    async push(sha, signal) {
      if (!deps.push) throw refused('nothing is to be pushed (workspace.push)');
      over = await begun.overSince(branch, signal);
      if (over !== null) {
        tellOver(deps, subject, over);
        return { kind: 'over', over };
      }
      await repository.exclusively(() => takeOver(repository, { branch, sha: shaOf(sha), file: workFile }, signal));
      try {
        await repository.exclusively(() => pushFromControl(repository, { branch, sha, seen }, signal));
      } catch (error) {
        if (error instanceof GitRefusal) return { kind: 'refused', said: error.said };
        throw error;
      }
      isPushed = true;
      seen = sha;
      logPush(deps, subject, { branch, sha });
      return { kind: 'pushed' };
    },
    async propose(signal) {
      const { opener } = deps;
      if (opener === null) throw refused('no merge request is to be opened');
      // A worker of an earlier version takes what is over for pushed: it is given the request that there was.
      if (over !== null) return over;
      if (!isPushed) throw refused('only what was pushed is proposed');
      return findOrOpen({ ...deps, opener }, subject, { branch, base: repository.baseBranch() }, signal);
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

const LEFT_FOR_MS = 86_400_000;

/** What a service that crashed left of runs that are long over. */
async function clearLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const place = path.join(folder, name);
    const found = await stat(place).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > LEFT_FOR_MS) await rm(place, { recursive: true, force: true });
  }
}

async function pack(
  repository: Repository,
  { branch, have, file }: { readonly branch: string; readonly have: readonly string[]; readonly file: string },
  signal: AbortSignal,
): Promise<Packed> {
  const { control } = repository;
  const format = '--format=%(refname) %(objectname)';
  const told = await gitOrThrow(repository, control, ['for-each-ref', format, 'refs/heads', 'refs/tags'], signal);
  const lines = told.split('\n').filter((line) => line !== '');
  const refs = lines.map((line) => line.split(' ') as [string, string]);
  const known = await knownAmong(repository, have, signal);
  const pushed = await pushedCommit(repository, branch, signal);
  // The remote may have deleted the branch since.
  const packed = ['--branches', '--tags', ...(pushed === null ? [] : [pushedRef(branch)])];
  const args = ['bundle', 'create', '--quiet', file, ...packed, ...(known.length > 0 ? ['--not', ...known] : [])];
  const isLacking = [...refs.map(([, sha]) => sha), pushed].some((sha) => sha !== null && !have.includes(sha));
  const bytes = isLacking && (await createBundle(repository, control, args, signal)) ? (await stat(file)).size : 0;
  if (bytes > MOST_BYTES) throw tooLarge(bytes);
  return { refs, bytes, baseBranch: repository.baseBranch(), pushed };
}

/** What the other side has and we know too. */
async function knownAmong(repository: Repository, have: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  const names = have.filter(isSha);
  if (names.length === 0) return [];
  const told = await gitOrThrow(repository, repository.control, ['rev-list', '--no-walk', '--ignore-missing', ...names], signal);
  return told.split('\n').filter((line) => line !== '');
}

/** Takes the commits over. References that the other side names are not made: only the commit that is to be pushed counts. */
async function takeOver(
  repository: Repository,
  { branch, sha, file }: { readonly branch: string; readonly sha: string; readonly file: string },
  signal: AbortSignal,
): Promise<void> {
  const { control } = repository;
  const sent = await stat(file).catch(() => null);
  if (sent !== null) await gitOrThrow(repository, control, ['bundle', 'unbundle', file], signal);
  await rm(file, { force: true });
  await gitOrThrow(repository, control, ['rev-parse', '--quiet', '--verify', `${sha}^{commit}`], signal);
  await gitOrThrow(repository, control, ['update-ref', offeredRef(branch), sha], signal);
}

async function readPart(file: string, at: number): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const part = Buffer.alloc(PART_BYTES);
    const { bytesRead } = await handle.read(part, 0, PART_BYTES, placeOf(at));
    return part.toString('base64', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** The first part begins anew: an earlier try may have broken off. */
async function addPart(file: string, at: number, text: string): Promise<void> {
  const part = Buffer.from(text, 'base64');
  if (placeOf(at) + part.length > MOST_BYTES) throw tooLarge(at + part.length);
  await makeDirectories(path.dirname(file), 0o700);
  const handle = await open(file, at === 0 ? 'w' : 'r+', 0o600);
  try {
    await handle.write(part, 0, part.length, at);
  } finally {
    await handle.close();
  }
}

function placeOf(at: unknown): number {
  if (typeof at !== 'number' || !Number.isSafeInteger(at) || at < 0) throw refused('this is no place in a file');
  return at;
}

function shaOf(sha: unknown): string {
  if (!isSha(sha)) throw refused('this is no commit');
  return sha;
}

function isSha(text: unknown): text is string {
  return typeof text === 'string' && /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(text);
}

function refused(detail: string): WorkspaceError {
  return new WorkspaceError('repo', detail, { retryable: false });
}
