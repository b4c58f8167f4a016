import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeDirectories } from '../lib/make-directories.ts';
import { gitOrThrow } from './git-or-throw.ts';
import { createRepository, type RepositorySettings } from './repository.ts';

/** What a remote told of itself. */
export interface RemoteTold {
  /** Null where it names none, as one without a commit does. */
  readonly defaultBranch: string | null;
  /** Whether it has the branch that was asked for; true where none was. */
  readonly hasBase: boolean;
}

/** Asks a remote for its branches, with the credential and the settings that runs use, and leaves nothing behind. */
export async function askRemote(
  settings: Omit<RepositorySettings, 'folder'>,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<RemoteTold> {
  const { url, baseBranch } = settings;
  const folder = await mkdtemp(path.join(tmpdir(), 'foray-remote-'));
  try {
    const processes = { started: () => {}, ended: () => {} };
    const repository = createRepository({ ...settings, folder }, { env, processes });
    const place = path.dirname(repository.control);
    await makeDirectories(place, 0o700);
    await gitOrThrow(repository, place, ['init', '--quiet', '--bare', repository.control], signal);
    const asked = baseBranch === null ? [] : [`refs/heads/${baseBranch}`];
    const told = await repository.remote('fetch', ['ls-remote', '--symref', url, 'HEAD', ...asked], signal);
    return {
      defaultBranch: /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(told)?.[1] ?? null,
      hasBase: asked.every((ref) => told.split('\n').some((line) => line.endsWith(`\t${ref}`))),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
