import { mkdir, mkdtemp, realpath, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { HookSettings } from '../../src/domain/model/settings.ts';
import type { LogAttributes, Logger, LogLevel } from '../../src/ports/runtime.ts';
import type { Workspaces, WorkspaceSubject } from '../../src/ports/workspace.ts';
import type { Cut } from '../../src/lib/http/index.ts';
import { createWorkspaces } from '../../src/workspace/index.ts';
import { removeTree } from '../../src/workspace/remove.ts';

/** One record that was logged. */
export interface Logged {
  readonly level: LogLevel;
  readonly message: string;
  readonly attributes: LogAttributes;
}

/** A logger that remembers. */
export function createLogRecorder(): Logger & { readonly records: Logged[] } {
  const records: Logged[] = [];
  const write =
    (level: LogLevel) =>
    (message: string, attributes: LogAttributes = {}): void => {
      records.push({ level, message, attributes });
    };
  return { records, debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** Real workspaces in a directory of their own. */
export interface WorkspaceBench {
  /** Holds the root and whatever must stay outside of it. */
  readonly base: string;
  readonly root: string;
  readonly workspaces: Workspaces;
  readonly log: Logged[];
  /** Process groups that were reported as started and not as ended. */
  readonly live: Set<number>;
  subject(hooks?: Partial<HookSettings>, identifier?: string): WorkspaceSubject;
  cleanUp(): Promise<void>;
}

export async function createWorkspaceBench(
  env: Readonly<Record<string, string>> = {},
  maskSecrets: (text: string, cut?: Cut) => string = (text) => text.replaceAll('s3cret', '***'),
): Promise<WorkspaceBench> {
  const base = await realpath(await mkdtemp(path.join(tmpdir(), 'workspaces-')));
  const root = path.join(base, 'root');
  const logger = createLogRecorder();
  const live = new Set<number>();
  const workspaces = createWorkspaces({
    markKey: 'key',
    removedDays: 7,
    root,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    logger,
    processes: { started: (pid) => live.add(pid), ended: (pid) => live.delete(pid) },
    maskSecrets,
  });
  return {
    base,
    root,
    workspaces,
    log: logger.records,
    live,
    subject: (hooks = {}, identifier = 'ABC-1') => ({
      tracker: 'file /issues.json',
      issueId: 'id-1',
      identifier,
      title: 'A title',
      attempt: 2,
      hooks: { afterCreate: null, beforeRun: null, afterRun: null, beforeRemove: null, timeoutMs: 10_000, ...hooks },
    }),
    cleanUp: () => removeTree(base),
  };
}

/** Puts directories there that go deeper than the system can name by one path. */
export async function makeDeep(place: string): Promise<void> {
  const half = Array.from({ length: 12 }, () => 'd'.repeat(200));
  await mkdir(path.join(place, ...half), { recursive: true });
  await mkdir(path.join(`${place}-lower`, ...half), { recursive: true });
  await rename(`${place}-lower`, path.join(place, ...half, 'lower'));
}
