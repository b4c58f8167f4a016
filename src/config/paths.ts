import path from 'node:path';
import type { Problem } from '../domain/model/problem.ts';
import { blamingUnset, type Env, expand, unsetNote } from './expand.ts';

export interface PathContext {
  /** Absolute. */
  readonly workflowPath: string;
  readonly homeDir: string;
  readonly env: Env;
}

export interface ReadPath {
  /** Absolute. */
  readonly path: string;
  readonly problems: readonly Problem[];
}

/** `db_path`, by default beside the workflow file. */
export function readDbPath(written: string | undefined, context: PathContext): ReadPath {
  return resolvePath('db_path', written ?? DEFAULT_DB, context);
}

const DEFAULT_DB = '.foray.db';

/** Where the database is unless the workflow file says otherwise. */
export function defaultDbPath(workflowPath: string): string {
  return path.resolve(path.dirname(workflowPath), DEFAULT_DB);
}

/** `workspace.root`, by default a state directory of the user that no other workflow file shares. */
export function readWorkspaceRoot(written: string | undefined, context: PathContext): ReadPath {
  if (written !== undefined) return resolvePath('workspace.root', written, context);
  const state = stateDirectory(context);
  const problems = path.isAbsolute(state) ? [] : [homeless('workspace.root', context)];
  return { path: path.resolve(state, 'foray', 'workspaces', workflowName(context.workflowPath)), problems };
}

// An unset variable is an error here: without it `$BASE/work` would quietly become `/work`.
function resolvePath(check: string, written: string, context: PathContext): ReadPath {
  const expanded = expand(written, 'anywhere', context.env);
  const isBelowHome = /^~(?=\/|$)/.test(written);
  const home = isBelowHome ? context.homeDir + expanded.value.slice(1) : expanded.value;
  const resolved = path.resolve(path.dirname(context.workflowPath), home);
  if (isBelowHome && !path.isAbsolute(context.homeDir)) return { path: resolved, problems: [homeless(check, context)] };
  if (expanded.unset.length === 0) return { path: resolved, problems: [] };
  const message = `cannot be expanded${unsetNote(expanded)}`;
  return {
    path: resolved,
    problems: [blamingUnset({ severity: 'error', check, message, key: check.split('.') }, expanded)],
  };
}

/** Without a home, what belongs below it would land wherever the service was started, or beside the workflow file. */
function homeless(check: string, { homeDir }: PathContext): Problem {
  const message = `the home directory is not known, as HOME is "${homeDir}": set HOME to an absolute path, or write ${check} as one`;
  return { severity: 'error', check, message, key: check.split('.') };
}

// The XDG base directory rules say to ignore a relative value.
export function stateDirectory({ env, homeDir }: Omit<PathContext, 'workflowPath'>): string {
  const configured = env['XDG_STATE_HOME'];
  return configured && path.isAbsolute(configured) ? configured : path.join(homeDir, '.local', 'state');
}

export function workflowName(workflowPath: string): string {
  // Most files name their root: loaded for the others.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const folder = path.basename(path.dirname(workflowPath)).replace(/[^A-Za-z0-9._-]/g, '_');
  return `${folder || 'root'}-${createHash('sha256').update(workflowPath).digest('hex').slice(0, 8)}`;
}
