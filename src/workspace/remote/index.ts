import path from 'node:path';
import { WorkspaceError } from '../../domain/model/errors.ts';
import type { Cut } from '../../lib/http/index.ts';
import type { ProcessLedger } from '../../ports/agent.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Removal, RemovalSubject, Workspaces, WorkspaceSubject } from '../../ports/workspace.ts';
import { createHookRunner, type RunHook } from '../hooks.ts';
import { isWorkspaceKey, markNameOf, workspaceNames } from '../key.ts';
import { judgeMark, markText } from '../marks.ts';
import { choose, isOwn, type DirectoryChoice } from '../choose-directory.ts';
import type { ReadOnlyGit } from '../../git/read-only-git.ts';
import { compareWork, marksIn } from '../evidence.ts';
import { hasMade } from '../made-commits.ts';
import { parseScm, SCM_BYTES } from '../scm-file.ts';
import { parseStatus, STATUS_BYTES } from '../status-file.ts';
import { runCheck } from '../verify.ts';
import { createTurns, type InTurn } from './in-turn.ts';
import { readWord, textOf } from './read-word.ts';
import { asWorkspaceError, runFar, type FarHost } from './run-far.ts';
import * as scripts from './scripts.ts';

export interface RemoteWorkspaceDeps {
  readonly host: FarHost;
  /** There: absolute, or with `~/` from the home directory of the account. */
  readonly root: string;
  readonly logger: Logger;
  readonly processes: ProcessLedger;
  readonly markKey: string;
  readonly removedDays: number;
  maskSecrets(text: string, cut?: Cut): string;
}

/** Workspaces as directories of another host, reached over SSH. They are marked, made and cleared as those of this machine. */
export function createRemoteWorkspaces(deps: RemoteWorkspaceDeps): Workspaces {
  const { host, root } = deps;
  const far: Far = {
    ...deps,
    run: (text, args, signal) => asWorkspaceError(host, () => runFar(host, { text, args: [root, ...args] }, signal)),
    runHook: createHookRunner({ ...deps, env: {} }),
    inTurn: createTurns(),
  };
  const words = new Map<string, ReadonlySet<string>>();
  /** Which directory each run that is under way began in. */
  const begun = new Map<string, string>();
  const keyOf = ({ tracker, issueId }: WorkspaceSubject): string => `${tracker} ${issueId}`;

  return {
    findProblem: () => Promise.resolve(null),
    namesOf: workspaceNames,
    pathFor: async (subject) => {
      const place = await survey(far, subject, AbortSignal.timeout(FIRST_LOOK_MS));
      return choose(place.candidates, place.root, subject).path;
    },
    prepare: (subject, signal) => prepare(far, subject, signal),
    async beforeRun(subject, signal) {
      begun.set(keyOf(subject), await beforeRun(far, words, subject, signal));
    },
    async requireOwn(subject, signal) {
      await own(far, subject, signal);
    },
    async afterRun(subject, signal) {
      begun.delete(keyOf(subject));
      await afterRun(far, subject, signal);
    },
    remove: (subject, signal) => remove(far, subject, signal),
    verify: (check, signal) => runCheck(check, { ...deps, env: {} }, signal),
    readStatus: (subject, workspace) =>
      readWord(far, words, { subject, workspace, word: 'status', bytes: STATUS_BYTES }, (text) => parseStatus(text, deps)),
    readScm: (subject, workspace) => readWord(far, words, { subject, workspace, word: 'scm.json', bytes: SCM_BYTES }, parseScm),
    // Nothing is kept on a host: an interrupted run's work is counted only as far as the next one adds to it.
    workBefore: (subject, signal) => lookAtWork(far, subject, 'either', signal),
    hasWorkSince: async (subject, before, signal) => {
      const as = before.startsWith('files\n') ? 'files' : 'either';
      const told = compareWork(before, await lookAtWork(far, subject, as, signal));
      if (told !== 'other marks') return told === 'work';
      return hasMade(await readOnlyGit(far, subject, signal), marksIn(before));
    },
    settleWork: () => Promise.resolve(),
    async deliver(subject, signal) {
      // A workspace that was taken away under its agent holds no work that could be handed over.
      const { bare } = await own(far, subject, signal);
      const before = begun.get(keyOf(subject));
      // Another directory is in its place, which an agent made by writing to a path that was no longer there.
      if (bare !== null && before !== undefined && bare !== before) throw gone(far, subject);
      return null;
    },
    ownBranch: () => null,
    // Nobody knows from here: the host is asked when the workspace is to be removed.
    has: () => true,
    async list() {
      return linesOf(await far.run(scripts.LIST, [], AbortSignal.timeout(FIRST_LOOK_MS))).filter(isWorkspaceKey);
    },
  };
}

const FIRST_LOOK_MS = 60_000;

interface Far extends RemoteWorkspaceDeps {
  run(text: string, args: readonly string[], signal: AbortSignal): Promise<string>;
  readonly runHook: RunHook;
  /** Issues of one name take turns: two that begin at the same moment would find the same directory free. */
  readonly inTurn: InTurn;
}

interface FarChoice extends DirectoryChoice {
  /** Which directory it is, where our own folder is not in it; else null. */
  readonly bare: string | null;
}

/** What is there of the directories that an issue's workspace may have. */
async function survey(
  far: Far,
  subject: WorkspaceSubject,
  signal: AbortSignal,
): Promise<{ readonly root: string; readonly candidates: readonly FarChoice[] }> {
  const names = workspaceNames(subject.identifier, subject.tracker);
  const args = names.flatMap((name) => scripts.partsOf(name, markNameOf(name)));
  const [first = '', ...lines] = linesOf(await far.run(scripts.SURVEY, args, signal));
  const root = first.slice('root '.length);
  const candidates = lines.map((line): FarChoice => {
    const [name = '', kind, , hex = '-', bare = '-'] = line.split(' ');
    const directory = path.posix.join(root, name);
    if (kind === 'other') {
      const why = `${far.host.name}:${directory} is not a directory; remove it by hand after a look at it`;
      throw new WorkspaceError('refused', why, { retryable: false });
    }
    const mark = hex === '-' ? null : textOf(hex);
    const owner = judgeMark(mark, name, subject, far.markKey);
    return { name, path: directory, exists: kind === 'directory', owner, bare: bare === '-' ? null : bare };
  });
  return { root, candidates };
}

async function lookAtWork(far: Far, subject: WorkspaceSubject, as: 'either' | 'files', signal: AbortSignal): Promise<string> {
  const { name } = await own(far, subject, signal);
  return far.run(scripts.LOOK_AT_WORK, [name, as], signal);
}

/** An argument of a process is not longer than 128 KiB: commits that are left out may count as new. */
const MOST_INPUT = 120_000;

async function readOnlyGit(far: Far, subject: WorkspaceSubject, signal: AbortSignal): Promise<ReadOnlyGit> {
  const { name } = await own(far, subject, signal);
  return async (args, { input = '' } = {}) => {
    const fitting = input.slice(0, input.lastIndexOf('\n', MOST_INPUT) + 1);
    const said = await far.run(scripts.LOOK_WITH_GIT, [name, fitting, ...args], signal);
    return said.endsWith('ok\n') ? said.slice(0, -'ok\n'.length) : null;
  };
}

async function own(far: Far, subject: WorkspaceSubject, signal: AbortSignal): Promise<FarChoice> {
  const found = (await survey(far, subject, signal)).candidates.find(isOwn);
  if (found) return found;
  throw gone(far, subject);
}

function gone({ host }: Far, { identifier }: WorkspaceSubject): WorkspaceError {
  const why = `the workspace of ${identifier} is gone from ${host.name}; it is made again at the next attempt`;
  return new WorkspaceError('missing', why, { retryable: true });
}

async function prepare(
  far: Far,
  subject: WorkspaceSubject,
  signal: AbortSignal,
): Promise<{ readonly path: string; readonly created: boolean }> {
  const names = workspaceNames(subject.identifier, subject.tracker);
  const { name, path: workspace, created } = await far.inTurn(names, () => make(far, subject, signal));
  const failure = created ? await far.runHook('after_create', subject, workspace, signal) : null;
  if (failure !== null) {
    await far.run(scripts.DISCARD, [name, markNameOf(name)], AbortSignal.timeout(FIRST_LOOK_MS));
    throw failure;
  }
  await far.run(scripts.RESET, [name, markNameOf(name)], signal);
  return { path: workspace, created };
}

/** Chooses a directory, marks it and makes it where it is missing. */
async function make(
  far: Far,
  subject: WorkspaceSubject,
  signal: AbortSignal,
): Promise<DirectoryChoice & { readonly created: boolean }> {
  const place = await survey(far, subject, signal);
  const choice = choose(place.candidates, place.root, subject);
  const parts = scripts.partsOf(choice.name, markNameOf(choice.name));
  const mark = markText(choice.name, subject, far.markKey);
  const said = linesOf(await far.run(scripts.CREATE, [...parts, mark], signal));
  tellLeftovers(far, subject, said);
  return { ...choice, created: said.includes('made') };
}

/** What a daemon that was killed left there. */
function tellLeftovers({ host, logger }: Far, { issueId, identifier }: WorkspaceSubject, said: readonly string[]): void {
  const facts = { issue_id: issueId, issue_identifier: identifier, host: host.name };
  for (const pid of said.flatMap((line) => (line.startsWith('left ') ? [Number(line.slice('left '.length))] : [])))
    logger.warn('ending a process that an earlier run left behind', { ...facts, pid });
}

/** Runs the hook, clears what was said before this run, and remembers it: the same words again are not this run's. Tells which directory it is. */
async function beforeRun(
  far: Far,
  words: Map<string, ReadonlySet<string>>,
  subject: WorkspaceSubject,
  signal: AbortSignal,
): Promise<string> {
  const { name, path: workspace } = await own(far, subject, signal);
  const failure = await far.runHook('before_run', subject, workspace, signal);
  if (failure !== null) throw failure;
  const said = linesOf(await far.run(scripts.CLEAR_WORDS, [name], signal)).map((line) => line.split(' '));
  for (const word of ['status', 'scm.json'])
    words.set(`${name}/${word}`, new Set(said.flatMap(([of, hex]) => (of === word ? [hex ?? ''] : []))));
  return said.find(([of]) => of === 'directory')?.[1] ?? '';
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

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}
