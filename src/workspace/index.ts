import { constants } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { WorkspaceError } from '../domain/model/errors.ts';
import type { ProcessLedger } from '../ports/agent.ts';
import type { Logger } from '../ports/runtime.ts';
import type { Workspaces } from '../ports/workspace.ts';
import { codeOf, hasDirectory, realRoot } from './containment.ts';
import type { Delivery } from './delivery.ts';
import { createHookRunner } from './hooks.ts';
import { isWorkspaceKey, namesNone, workspaceKey } from './key.ts';
import { prepareWorkspace } from './prepare.ts';
import { removeWorkspace } from './remove.ts';
import { readScmFile } from './scm-file.ts';
import { readStatusFile } from './status-file.ts';
import { runVerification } from './verify.ts';

export interface WorkspaceDeps {
  /** Where the workspaces are. Made when the first one is prepared. */
  readonly root: string;
  /** The daemon's environment; hooks see a small part of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly processes: ProcessLedger;
  /** Null unless `workspace.repo` is set. */
  readonly delivery?: Delivery | null;
  maskSecrets(text: string): string;
}

/** Workspaces as directories of this machine. */
export function createWorkspaces(deps: WorkspaceDeps): Workspaces {
  const { root, delivery = null } = deps;
  const runHook = createHookRunner(deps);
  const pathOf = (identifier: string): string => path.join(realRoot(root), workspaceKey(identifier));

  return {
    findProblem: () => findRootProblem(root),
    pathOf: (identifier) => (namesNone(identifier) ? null : pathOf(identifier)),
    nameOf: (identifier) => (namesNone(identifier) ? null : workspaceKey(identifier)),
    prepare: (subject, signal) =>
      asWorkspaceError('prepare', () => prepareWorkspace(pathOf(subject.identifier), subject, { delivery, runHook }, signal)),
    beforeRun: (subject, signal) =>
      asWorkspaceError('before_run', async () => {
        const workspace = await present(pathOf(subject.identifier));
        await delivery?.update(workspace, subject, signal);
        const failure = await runHook('before_run', subject, workspace, signal);
        if (failure !== null) throw failure;
      }),
    async afterRun(subject, signal) {
      if (subject.hooks.afterRun === null) return;
      try {
        await runHook('after_run', subject, await present(pathOf(subject.identifier)), signal);
      } catch (error) {
        const { issueId: issue_id, identifier: issue_identifier } = subject;
        deps.logger.warn('hook failed', { issue_id, issue_identifier, hook: 'after_run', reason: String(error) });
      }
    },
    remove: (subject, signal) =>
      asWorkspaceError('remove', () => removeWorkspace(pathOf(subject.identifier), subject, runHook, signal)),
    verify: (check, signal) => asWorkspaceError('verification', () => runVerification(check, deps, signal)),
    readStatus: (workspace) => readStatusFile(workspace, deps),
    readScm: (workspace) => readScmFile(workspace, deps),
    deliver: async (subject, signal) =>
      delivery === null ? null : delivery.deliver(await present(pathOf(subject.identifier)), subject, signal),
    list: () => asWorkspaceError('list', () => listWorkspaces(root)),
  };
}

/** What keeps directories from being made under the root, told for an operator. Reads only. */
async function findRootProblem(root: string): Promise<string | null> {
  try {
    const place = await nearestExisting(path.resolve(root));
    if (!(await stat(place)).isDirectory()) return `workspace.root ${root}: ${place} is not a directory`;
    await access(place, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    return `workspace.root ${root} is not writable: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function nearestExisting(place: string): Promise<string> {
  try {
    await stat(place);
    return place;
  } catch (error) {
    const parent = path.dirname(place);
    if (codeOf(error) !== 'ENOENT' || parent === place) throw error;
    return nearestExisting(parent);
  }
}

async function present(workspace: string): Promise<string> {
  if (await hasDirectory(workspace)) return workspace;
  throw new WorkspaceError('missing', `${workspace} is gone; it is made again at the next attempt`, { retryable: true });
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

/** Failures of the disk and aborts leave as WorkspaceErrors too; both may work out next time. */
async function asWorkspaceError<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WorkspaceError) throw error;
    throw new WorkspaceError(what, error instanceof Error ? error.message : String(error), { retryable: true, cause: error });
  }
}
