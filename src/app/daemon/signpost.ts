import { realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import type { Env } from '../../config/expand.ts';
import { stateDirectory, workflowName } from '../../config/paths.ts';
import type { Settings } from '../../domain/model/settings.ts';
import { makeDirectoriesNow } from '../../lib/make-directories.ts';
import { once } from '../../lib/once.ts';
import { isSameProcess, processStartTime } from '../../lib/process-identity.ts';
import { readShortFile, replaceShortFile } from '../../lib/short-file.ts';
import { databaseName } from './own-store.ts';

/**
 * Says which database the service of a workflow file uses while it runs, in the state directory of its user. An edit of the
 * file may name another one, which counts at the next start: commands must find the service all the same.
 */
export interface Signpost {
  readonly pid: number;
  /** A path, or an address without its password. */
  readonly database: string;
  readonly isShared: boolean;
}

const TEXT = once(() =>
  z.object({ pid: z.number(), processStart: z.string(), host: z.string(), database: z.string(), isShared: z.boolean() }),
);

/** Puts it up; gives what takes it down. Where it cannot be written, commands look where the file says. */
export function putUpSignpost(workflowPath: string, settings: Pick<Settings, 'dbPath' | 'storeUrl'>, env: Env): () => void {
  const { pid } = process;
  const shown = { database: databaseName(settings), isShared: settings.storeUrl !== null };
  const text = `${JSON.stringify({ pid, processStart: processStartTime(pid) ?? '', host: os.hostname(), ...shown })}\n`;
  const file = placeOf(workflowPath, env);
  // A second service that is about to be refused leaves that of the first alone.
  const other = readSignpost(workflowPath, env);
  if (file === null || (other !== null && other.pid !== pid)) return () => {};
  if (!isDone(() => writeIn(file, text))) return () => {};
  return () => void isDone(() => readShortFile(file) === text && rmSync(file, { force: true }));
}

/** That of a service at work on this machine; null where there is none. */
export function readSignpost(workflowPath: string, env: Env): Signpost | null {
  const file = placeOf(workflowPath, env);
  const found = file === null ? null : parsed(file);
  if (found === null || found.host !== os.hostname()) return null;
  return isSameProcess({ pid: found.pid, startTime: found.processStart }) ? found : null;
}

/** By the real path of the file, so that links to it meet. Null where nobody knows a home. */
function placeOf(workflowPath: string, env: Env): string | null {
  const state = stateDirectory({ env, homeDir: env['HOME'] ?? '' });
  if (!path.isAbsolute(state)) return null;
  return path.join(state, 'foray', 'services', `${workflowName(realPathOf(workflowPath))}.json`);
}

function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

function writeIn(file: string, text: string): void {
  makeDirectoriesNow(path.dirname(file), 0o700);
  replaceShortFile(file, text, 0o600);
}

function isDone(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

function parsed(file: string) {
  try {
    return TEXT().parse(JSON.parse(readShortFile(file) ?? ''));
  } catch {
    return null;
  }
}
