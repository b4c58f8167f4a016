import path from 'node:path';
import { WorkspaceError } from '../../domain/model/errors.ts';
import type { ProcessLedger } from '../../ports/agent.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Removal, RemovalSubject, VerificationCheck, Workspaces, WorkspaceSubject } from '../../ports/workspace.ts';
import { createHookRunner, type RunHook } from '../hooks.ts';
import { isWorkspaceKey, markNameOf, workspaceNames } from '../key.ts';
import { judgeMark, markText } from '../marks.ts';
import { choose, isOwn, type DirectoryChoice } from '../choose-directory.ts';
import { parseScm, SCM_BYTES } from '../scm-file.ts';
import { runScript } from '../script.ts';
import { parseStatus, STATUS_BYTES } from '../status-file.ts';
import { runFar, type FarHost } from './run-far.ts';
import * as scripts from './scripts.ts';

export interface RemoteWorkspaceDeps {
  readonly host: FarHost;
  /** There: absolute, or with `~/` from the home directory of the account. */
  readonly root: string;
  readonly logger: Logger;
  readonly processes: ProcessLedger;
  readonly markKey: string;
  readonly removedDays: number;
  maskSecrets(text: string): string;
}

/** Workspaces as directories of another host, reached over SSH. They are marked, made and cleared as those of this machine. */
export function createRemoteWorkspaces(deps: RemoteWorkspaceDeps): Workspaces {
  const { host, root } = deps;
  const far: Far = {
    ...deps,
    run: (text, args, signal) => asWorkspaceError(host, () => runFar(host, { text, args: [root, ...args] }, signal)),
    runHook: createHookRunner({ ...deps, env: {} }),
  };
  const words = new Map<string, ReadonlySet<string>>();

  return {
    findProblem: () => Promise.resolve(null),
    namesOf: workspaceNames,
    pathFor: async (subject) => {
      const place = await survey(far, subject, AbortSignal.timeout(FIRST_LOOK_MS));
      return choose(place.candidates, place.root, subject).path;
    },
    prepare: (subject, signal) => prepare(far, subject, signal),
    beforeRun: (subject, signal) => beforeRun(far, words, subject, signal),
    afterRun: (subject, signal) => afterRun(far, subject, signal),
    remove: (subject, signal) => remove(far, subject, signal),
    verify: (verification, signal) => verify(deps, verification, signal),
    readStatus: (workspace) =>
      readWord(far, words, { workspace, word: 'status', bytes: STATUS_BYTES }, (text) => parseStatus(text, deps)),
    readScm: (workspace) => readWord(far, words, { workspace, word: 'scm.json', bytes: SCM_BYTES }, parseScm),
    fingerprint: (workspace, signal) => far.run(scripts.FINGERPRINT, [nameOf(workspace)], signal),
    async deliver(subject, signal) {
      // A workspace that was taken away under its agent holds no work that could be handed over.
      await own(far, subject, signal);
      return null;
    },
    async list() {
      return linesOf(await far.run(scripts.LIST, [], AbortSignal.timeout(FIRST_LOOK_MS))).filter(isWorkspaceKey);
    },
  };
}

const FIRST_LOOK_MS = 60_000;

interface Far extends RemoteWorkspaceDeps {
  run(text: string, args: readonly string[], signal: AbortSignal): Promise<string>;
  readonly runHook: RunHook;
}

/** What is there of the directories that an issue's workspace may have. */
async function survey(
  far: Far,
  subject: WorkspaceSubject,
  signal: AbortSignal,
): Promise<{ readonly root: string; readonly candidates: readonly DirectoryChoice[] }> {
  const names = workspaceNames(subject.identifier, subject.tracker);
  const args = names.flatMap((name) => scripts.partsOf(name, markNameOf(name)));
  const [first = '', ...lines] = linesOf(await far.run(scripts.SURVEY, args, signal));
  const root = first.slice('root '.length);
  const candidates = lines.map((line): DirectoryChoice => {
    const [name = '', kind, , hex = '-'] = line.split(' ');
    const directory = path.posix.join(root, name);
    if (kind === 'other') {
      const why = `${far.host.name}:${directory} is not a directory; remove it by hand after a look at it`;
      throw new WorkspaceError('refused', why, { retryable: false });
    }
    const mark = hex === '-' ? null : textOf(hex);
    return { name, path: directory, exists: kind === 'directory', owner: judgeMark(mark, name, subject, far.markKey) };
  });
  return { root, candidates };
}

async function own(far: Far, subject: WorkspaceSubject, signal: AbortSignal): Promise<DirectoryChoice> {
  const found = (await survey(far, subject, signal)).candidates.find(isOwn);
  if (found) return found;
  const why = `the workspace of ${subject.identifier} is gone from ${far.host.name}; it is made again at the next attempt`;
  throw new WorkspaceError('missing', why, { retryable: true });
}

async function prepare(
  far: Far,
  subject: WorkspaceSubject,
  signal: AbortSignal,
): Promise<{ readonly path: string; readonly created: boolean }> {
  const place = await survey(far, subject, signal);
  const { name, path: workspace } = choose(place.candidates, place.root, subject);
  const parts = scripts.partsOf(name, markNameOf(name));
  const mark = markText(name, subject, far.markKey);
  const created = (await far.run(scripts.CREATE, [...parts, mark], signal)).trim() === 'made';
  const failure = created ? await far.runHook('after_create', subject, workspace, signal) : null;
  if (failure !== null) {
    await far.run(scripts.DISCARD, [name, markNameOf(name)], AbortSignal.timeout(FIRST_LOOK_MS));
    throw failure;
  }
  await far.run(scripts.RESET, [name, markNameOf(name)], signal);
  return { path: workspace, created };
}

/** Runs the hook, clears what was said before this run, and remembers it: the same words again are not this run's. */
async function beforeRun(
  far: Far,
  words: Map<string, ReadonlySet<string>>,
  subject: WorkspaceSubject,
  signal: AbortSignal,
): Promise<void> {
  const { name, path: workspace } = await own(far, subject, signal);
  const failure = await far.runHook('before_run', subject, workspace, signal);
  if (failure !== null) throw failure;
  const said = linesOf(await far.run(scripts.CLEAR_WORDS, [name], signal)).map((line) => line.split(' '));
  for (const word of ['status', 'scm.json'])
    words.set(`${name}/${word}`, new Set(said.flatMap(([of, hex]) => (of === word ? [hex ?? ''] : []))));
}

/** Runs the hook; the run is over, so a failure is only told. */
async function afterRun(far: Far, subject: WorkspaceSubject, signal: AbortSignal): Promise<void> {
  if (subject.hooks.afterRun === null) return;
  try {
    await far.runHook('after_run', subject, (await own(far, subject, signal)).path, signal);
  } catch (error) {
    const { issueId: issue_id, identifier: issue_identifier } = subject;
    far.logger.warn('hook failed', { issue_id, issue_identifier, hook: 'after_run', reason: String(error) });
  }
}

/** Runs the command that checks the work, there. */
async function verify(
  deps: RemoteWorkspaceDeps,
  { command, path: cwd, timeoutMs, runId }: VerificationCheck,
  signal: AbortSignal,
): ReturnType<Workspaces['verify']> {
  const variables = { FORAY_WORKSPACE: cwd };
  const timeoutKey = 'self_review.verification_timeout_ms';
  const script = { text: command, cwd, variables, timeoutMs, timeoutKey, owner: runId };
  const { failure, output } = await runScript(script, { ...deps, env: {} }, signal);
  if (signal.aborted) throw new WorkspaceError('verification', 'stopped before it finished', { retryable: true });
  return failure === null ? { ok: true, output } : { ok: false, output: `${output}\n[${failure}]`.trim() };
}

async function remove(far: Far, subject: RemovalSubject, signal: AbortSignal): Promise<Removal> {
  await far.run(scripts.FORGET_ASIDE, [String(far.removedDays)], signal);
  const { candidates } = await survey(far, subject, signal);
  const [plain] = candidates;
  const unmarked = plain?.exists === true && plain.owner === 'nobody' ? plain : null;
  const found = candidates.find(isOwn) ?? (subject.recorded === true ? unmarked : null);
  if (found) {
    await far.runHook('before_remove', subject, found.path, signal);
    await far.run(scripts.REMOVE, scripts.partsOf(found.name, markNameOf(found.name)), signal);
    return { removed: true, path: `${far.host.name}:${found.path}`, aside: null };
  }
  if (!unmarked) return { removed: false, path: '', aside: null };
  const aside = (await far.run(scripts.ASIDE, [unmarked.name, String(Date.now())], signal)).trim();
  return { removed: true, path: `${far.host.name}:${unmarked.path}`, aside: `${far.host.name}:${aside}` };
}

/** What the run's agent wrote; null for nothing, for what was there before, and, aloud, for anything unusable. */
async function readWord<T>(
  far: Far,
  prepared: ReadonlyMap<string, ReadonlySet<string>>,
  { workspace, word, bytes }: { readonly workspace: string; readonly word: string; readonly bytes: number },
  parse: (text: string) => T,
): Promise<T | null> {
  try {
    const name = nameOf(workspace);
    const answer = (await far.run(scripts.READ_WORD, [name, word, String(bytes + 1)], AbortSignal.timeout(FIRST_LOOK_MS))).trim();
    if (answer === '') return null;
    if (answer === 'refused') throw new Error('it is not a regular file');
    const hex = answer.slice('file '.length);
    if (prepared.get(`${name}/${word}`)?.has(hex) === true) return null;
    if (hex.length > 2 * bytes && word !== 'status') throw new Error(`it is longer than ${bytes} bytes`);
    return parse(textOf(hex.slice(0, 2 * bytes)));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    far.logger.warn(`${word === 'status' ? 'status' : 'scm'} file ignored`, {
      workspace: `${far.host.name}:${workspace}`,
      reason,
    });
    return null;
  }
}

/** Workspaces are handed around as paths: only a name that can be ours is touched. */
function nameOf(workspace: string): string {
  const name = path.posix.basename(workspace);
  if (isWorkspaceKey(name)) return name;
  throw new WorkspaceError('refused', `${workspace} is not a workspace under the root`, { retryable: false });
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

function textOf(hex: string): string {
  return Buffer.from(hex, 'hex').toString('utf8');
}

async function asWorkspaceError<T>(host: FarHost, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WorkspaceError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new WorkspaceError(`on ${host.name}`, why, { retryable: true, cause: error });
  }
}
