import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { DeliveryError, WorkspaceError } from '../domain/model/errors.ts';
import type { ProcessLedger } from '../ports/agent.ts';
import { codeOf } from '../lib/error-code.ts';
import type { Cut } from '../lib/http/index.ts';
import type { ProgramUser } from '../lib/process/index.ts';
import type { Logger } from '../ports/runtime.ts';
import type { Workspaces, WorkspaceSubject } from '../ports/workspace.ts';
import { DATA_FOLDER, look, realRoot } from './containment.ts';
import type { Delivery } from './delivery.ts';
import { createHookRunner } from './hooks.ts';
import { chooseDirectory, findOwnDirectory, type DirectoryChoice, type SignedRoot } from './choose-directory.ts';
import { isWorkspaceKey, workspaceNames } from './key.ts';
import { prepareWorkspace } from './prepare.ts';
import { createEarlierFiles } from './earlier-files.ts';
import { removeFor } from './remove-for.ts';
import { diskProblemOf, findReachProblem, findRootProblem } from './root.ts';
import { readScmFile } from './scm-file.ts';
import { readStatusFile } from './status-file.ts';
import { runVerification } from './verify.ts';
import { createWorkBefore } from './work-before.ts';
import { dropWorkNote } from './work-note.ts';
import { errorText } from '../lib/error-text.ts';

export interface WorkspaceDeps {
  /** Where the workspaces are. Made when the first one is prepared. */
  readonly root: string;
  /** The daemon's environment; hooks see a small part of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whom hooks and verification commands run as, and whose the directories are; null for the daemon's own user. */
  readonly user?: ProgramUser | null;
  readonly logger: Logger;
  readonly processes: ProcessLedger;
  /** Null unless `workspace.repo` is set. */
  readonly delivery?: Delivery | null;
  /** What marks are signed with. */
  readonly markKey: string;
  /** How long a directory that was moved aside is kept. */
  readonly removedDays: number;
  maskSecrets(text: string, cut?: Cut): string;
}

/** Workspaces as directories of this machine. */
export function createWorkspaces(deps: WorkspaceDeps): Workspaces {
  const { root, delivery = null, user = null } = deps;
  const runHook = createHookRunner(deps);
  const attempt = <T>(what: string, work: () => Promise<T>): Promise<T> => asWorkspaceError(what, root, work);
  const prepared = createEarlierFiles(user);
  /** What the directory of each run that is under way was when it began. */
  const begun = new Map<string, string>();
  const keyOf = ({ tracker, issueId }: WorkspaceSubject): string => `${tracker} ${issueId}`;
  const place = (): SignedRoot => ({ root: realRoot(root), key: deps.markKey });
  const ownChoice = (subject: WorkspaceSubject): DirectoryChoice => {
    const found = findOwnDirectory(place(), subject);
    if (found) return found;
    throw gone(subject);
  };
  const own = (subject: WorkspaceSubject): string => ownChoice(subject).path;
  const workBefore = createWorkBefore(place, user, { ...deps, delivery });

  return {
    findProblem: async () => (await findRootProblem(root)) ?? (user && findReachProblem(root, user)),
    namesOf: workspaceNames,
    pathFor: async (subject) => pathIn(place, subject),
    prepare: (subject, signal) =>
      attempt('prepare', () => prepareWorkspace(place(), subject, { delivery, runHook, user }, signal)),
    beforeRun: (subject, signal) =>
      attempt('before_run', async () => {
        const directory = ownChoice(subject);
        const { path: workspace } = directory;
        await workBefore.recall(subject, directory, signal);
        await delivery?.update(workspace, subject, signal);
        const failure = await runHook('before_run', subject, workspace, signal);
        if (failure !== null) throw failure;
        await prepared.clear(workspace, signal);
        begun.set(keyOf(subject), identityOf(workspace));
      }),
    requireOwn: (subject) => attempt('turn', async () => void own(subject)),
    async afterRun(subject, signal) {
      begun.delete(keyOf(subject));
      workBefore.forget(subject);
      if (subject.hooks.afterRun === null) return;
      await orWarn(deps.logger, subject, async () => runHook('after_run', subject, own(subject), signal));
    },
    remove: (subject, signal) => attempt('remove', () => removeFor(place(), subject, { ...deps, runHook, user }, signal)),
    has: (recorded) => look(recorded)?.isDirectory() === true,
    verify: (check, signal) => attempt('verification', () => runVerification(check, deps, signal)),
    readStatus: async (subject, workspace) =>
      (await prepared.isPrepared(workspace, 'status')) ? null : readStatusFile(subject, workspace, deps),
    readScm: async (subject, workspace) =>
      (await prepared.isPrepared(workspace, 'scm.json')) ? null : readScmFile(subject, workspace, deps),
    workBefore: (subject, signal) => attempt('evidence', () => workBefore.take(subject, ownChoice(subject), signal)),
    hasWorkSince: (subject, before, signal) => attempt('evidence', () => workBefore.isPassed(before, own(subject), signal)),
    settleWork: (subject) => attempt('evidence', async () => dropWorkNote(place().root, ownChoice(subject).name)),
    async deliver(subject, signal) {
      // A workspace that was taken away under its agent holds no work that could be handed over.
      const workspace = own(subject);
      const before = begun.get(keyOf(subject));
      if (before !== undefined && isRemade(workspace, before)) throw gone(subject);
      return delivery === null ? null : delivery.deliver(workspace, subject, signal);
    },
    ownBranch: (subject) => delivery?.ownBranch(subject) ?? null,
    list: () => attempt('list', () => listWorkspaces(root)),
  };
}

function pathIn(place: () => SignedRoot, subject: WorkspaceSubject): string | null {
  try {
    return chooseDirectory(place(), subject).path;
  } catch {
    return null;
  }
}

/** What comes after a run cannot fail it any more. */
async function orWarn(
  logger: Logger,
  { issueId, identifier }: WorkspaceSubject,
  afterRun: () => Promise<unknown>,
): Promise<void> {
  try {
    await afterRun();
  } catch (error) {
    const facts = { issue_id: issueId, issue_identifier: identifier, hook: 'after_run', reason: String(error) };
    logger.warn('hook failed', facts);
  }
}

/** Numbers of directories are given again soon; the moment it was made tells them apart where the file system keeps it. */
function identityOf(workspace: string): string {
  const { dev, ino, birthtimeNs } = lstatSync(workspace, { bigint: true });
  return `${dev} ${ino} ${birthtimeNs}`;
}

/** Whether another directory is in its place, which an agent made by writing to a path that was no longer there. */
function isRemade(workspace: string, before: string): boolean {
  return look(path.join(workspace, DATA_FOLDER)) === null && identityOf(workspace) !== before;
}

function gone({ identifier }: WorkspaceSubject): WorkspaceError {
  const detail = `the workspace of ${identifier} is gone; it is made again at the next attempt`;
  return new WorkspaceError('missing', detail, { retryable: true });
}

async function listWorkspaces(root: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(realRoot(root), { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && isWorkspaceKey(entry.name)).map((entry) => entry.name);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Failures of the disk and aborts leave as WorkspaceErrors too; both may work out next time. What is left for a person stays so. */
async function asWorkspaceError<T>(what: string, root: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WorkspaceError || error instanceof DeliveryError) throw error;
    const detail = diskProblemOf(error, root) ?? errorText(error);
    throw new WorkspaceError(what, detail, { retryable: true, cause: error });
  }
}
