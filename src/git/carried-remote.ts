import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { WorkspaceError } from '../domain/model/errors.ts';
import { MOST_BYTES, PART_BYTES, type Carrier, type Packed } from '../ports/carrier.ts';
import type { OverRequest } from '../ports/scm.ts';
import { GitRefusal } from './refusal.ts';
import { offeredRef, pushedRef, updateRefs } from './commits.ts';
import { gitOrThrow } from './git-or-throw.ts';
import { notePush, offer, type Offer, type Remote } from './remote.ts';
import type { Repository } from './repository.ts';

const CARRIED = ['refs/heads', 'refs/tags', 'refs/foray/pushed'];
/** More tips than this are not told: what they reach may then be sent once more. */
const MOST_TIPS = 2_000;

/** A remote that somebody else reaches for us: commits are carried in both directions, no credential is. */
export function createCarriedRemote(carrier: Carrier, branch: string): Remote {
  let base: string | null = null;
  return {
    async fetch(repository, signal) {
      const all = await refsOf(repository, signal);
      const known = new Map([...all].filter(([name]) => isMirrored(name)));
      const packed = await carrier.pack([...new Set(all.values())].slice(0, MOST_TIPS), signal);
      base = packed.baseBranch;
      if (packed.bytes > 0) {
        await withFile(repository, async (file) => {
          await download(carrier, packed.bytes, file, signal);
          await gitOrThrow(repository, repository.control, ['bundle', 'unbundle', file], signal);
        });
      }
      // Somebody else went on with the branch: what could not be pushed from here is no longer what comes next.
      const isElsewhere = packed.pushed !== null && packed.pushed !== all.get(pushedRef(branch));
      if (isElsewhere) await updateRefs(repository, [`delete ${offeredRef(branch)}`], signal);
      await mirror(repository, known, wantedRefs(packed, branch), signal);
    },
    defaultBranch: () => Promise.resolve(base ?? ''),
    push: (repository, offer, signal) => withFile(repository, (file) => push(repository, carrier, { ...offer, file }, signal)),
  };
}

function wantedRefs({ refs, pushed }: Packed, branch: string): ReadonlyMap<string, string> {
  const ours = pushed === null ? [] : [[pushedRef(branch), pushed] as const];
  return new Map([...refs.filter(([name]) => isMirrored(name)), ...ours]);
}

/** What the remote says about these is what counts. */
function isMirrored(name: string): boolean {
  return /^refs\/(?:heads|tags)\//.test(name);
}

/** Branches and tags as they were carried here the last time, and what was pushed from here since. */
async function refsOf(repository: Repository, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const format = '--format=%(refname) %(objectname)';
  const told = await gitOrThrow(repository, repository.control, ['for-each-ref', format, ...CARRIED], signal);
  const lines = told.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => line.split(' ') as [string, string]));
}

/** Deletions come first: a branch may have become the folder of others. */
async function mirror(
  repository: Repository,
  known: ReadonlyMap<string, string>,
  wanted: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const gone = [...known.keys()].filter((name) => !wanted.has(name)).map((name) => `delete ${name}`);
  const changed = [...wanted].filter(([name, sha]) => known.get(name) !== sha).map(([name, sha]) => `update ${name} ${sha}`);
  for (const lines of [gone, changed]) await updateRefs(repository, lines, signal);
}

/** Packs what the other side lacks, hands it over in parts, and has it pushed. */
async function push(
  repository: Repository,
  carrier: Carrier,
  { branch, sha, file }: Offer & { readonly file: string },
  signal: AbortSignal,
): Promise<OverRequest | null> {
  const { shared } = repository;
  await offer(repository, { branch, sha }, signal);
  const args = ['bundle', 'create', '--quiet', file, offeredRef(branch), '--not', '--remotes=origin'];
  if (await createBundle(repository, shared, args, signal)) await upload(carrier, file, signal);
  const answer = await carrier.push(sha, signal);
  if (answer.kind === 'refused') throw new GitRefusal('push', answer.said);
  if (answer.kind === 'over') {
    // It is not what comes next: it stays in the workspace alone.
    await updateRefs(repository, [`delete ${offeredRef(branch)}`], signal);
    return answer.over;
  }
  await notePush(repository, { branch, sha }, signal);
  return null;
}

/** False when there is nothing to put into it. */
export async function createBundle(
  repository: Repository,
  cwd: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const { code, stderr } = await repository.local(cwd, args, signal);
  if (code === 0) return true;
  if (/empty bundle/i.test(stderr)) return false;
  throw new WorkspaceError('git', `git bundle: ${stderr.trim().slice(-400)}`, { retryable: true });
}

async function download(carrier: Carrier, bytes: number, file: string, signal: AbortSignal): Promise<void> {
  if (bytes > MOST_BYTES) throw tooLarge(bytes);
  const handle = await open(file, 'w', 0o600);
  try {
    for (let at = 0; at < bytes;) {
      const part = Buffer.from(await carrier.readPack(at, signal), 'base64');
      if (part.length === 0) throw new WorkspaceError('repo', 'the repository came incomplete', { retryable: true });
      await handle.write(part, 0, part.length, at);
      at += part.length;
    }
  } finally {
    await handle.close();
  }
}

async function upload(carrier: Carrier, file: string, signal: AbortSignal): Promise<void> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    if (size > MOST_BYTES) throw tooLarge(size);
    const part = Buffer.alloc(PART_BYTES);
    for (let at = 0; at < size;) {
      const { bytesRead } = await handle.read(part, 0, PART_BYTES, at);
      await carrier.addWork(at, part.toString('base64', 0, bytesRead), signal);
      at += bytesRead;
    }
  } finally {
    await handle.close();
  }
}

async function withFile<T>({ control }: Repository, work: (file: string) => Promise<T>): Promise<T> {
  const file = path.join(path.dirname(control), `carried-${randomUUID()}`);
  try {
    return await work(file);
  } finally {
    await rm(file, { force: true });
  }
}

export function tooLarge(bytes: number): WorkspaceError {
  const detail = `${bytes} bytes are more than a worker is sent or sends (${MOST_BYTES}): fill the workspaces by hooks.after_create`;
  return new WorkspaceError('repo', detail, { retryable: false });
}
