import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { issues, launch, makeFolder, processorMs, workflow, type Daemon, type Program } from '../support/daemon.ts';
import { newFolder, roomInMemory } from '../support/folders.ts';
import { buildGithub } from '../support/remote.ts';
import { alike, count, median, none, timesFloor, toldBeside, type Row } from '../table.ts';

const MANY = 2_000;
const AT_ONCE = 100;

/** Whole mock sessions, from poll to handoff. */
export async function sessionRows(): Promise<Row[]> {
  const file = await besideBare(writingFiles, () => onFile(MANY));
  const folder = await besideBare(replacingFiles, () => onFolder(MANY));
  const remote = await besideBare(writingNothing, () => onRemote(MANY));
  const what = `${count(MANY)} mock sessions, ${AT_ONCE} at once`;
  const grouped = `${what}, beside shared commits`;
  return [
    timesFloor(`${what}, one JSON file`, 's', file.seconds, file.bare, 3),
    timesFloor(`${what}, a folder of Markdown`, 's', folder.seconds, folder.bare, 3),
    timesFloor(`${what}, a loopback repoissues remote`, 's', remote.seconds, remote.replayed + remote.bare, 3),
    toldBeside(`${grouped}, one JSON file`, 's', file.seconds, file.grouped),
    toldBeside(`${grouped}, a folder of Markdown`, 's', folder.seconds, folder.grouped),
    toldBeside(`${grouped}, a loopback repoissues remote`, 's', remote.seconds, remote.replayed + remote.grouped),
    none('failed sessions among all of these', file.failures + folder.failures + remote.failures),
  ];
}

/** The sizes take turns: what else the machine does falls on all alike. A figure of few issues is a coarse one, and taken more often. */
const ROUND = [200, 2_000, 200, 20_000];
const ROUNDS = 3;
/** Other lists before the one that counts, at every size alike: code that runs for the first time is compiled, also that for a new list. */
const WARM_LISTS = 10;
const WARM = 400;
/** Issues of the list before and after those that count: at both ends of the figure all slots are taken. */
const BESIDE = AT_ONCE;

/** Whether an issue costs more where there are many of them. Only processor time is taken, and none of a disk's. */
export async function growthRows(): Promise<Row[]> {
  const root = await roomInMemory();
  const times = new Map(ROUND.map((size): [number, number[]] => [size, []]));
  let [failures, sessions] = [0, 0];
  for (const size of Array.from({ length: ROUNDS }, () => ROUND).flat()) {
    const outcome = await onFreshList(size, root);
    times.get(size)?.push(outcome.cpuMs);
    failures += outcome.failures;
    sessions += WARM_LISTS * WARM + BESIDE + size;
  }
  const costs = new Map([...times].map(([size, taken]) => [size, median(taken)]));
  return [
    none(`failed sessions among ${count(sessions)}`, failures),
    ...alike(`processor time per issue (median)`, 'ms', costs, 1.3),
  ];
}

/** A list of so many issues, for a daemon that has worked through others. */
async function onFreshList(size: number, root: string): Promise<Outcome> {
  const list = (from: number, length: number) => JSON.stringify(issues(from + length).slice(from), null, 2);
  const directory = await makeFolder({ 'WORKFLOW.md': workflow({ agent: AGENT }), 'issues.json': '[]' }, root);
  const daemon = await launch(directory);
  const give = async (from: number, length: number) => {
    writeFileSync(path.join(directory, 'issues.json'), list(from, length));
    await fetch(`${daemon.url}/api/v1/refresh`, { method: 'POST' });
  };
  const before = WARM_LISTS * WARM;
  for (let done = 0; done < before; done += WARM) {
    await give(done, WARM);
    await daemon.until('releasing claim', done + WARM);
  }
  await give(before, BESIDE + size + BESIDE);
  await daemon.until('releasing claim', before + BESIDE);
  const [begin, cpu] = [performance.now(), processorMs(daemon.pid)];
  await daemon.until('releasing claim', before + BESIDE + size);
  const outcome = outcomeOf(daemon, size, { begin, cpu });
  await daemon.stop();
  return outcome;
}

interface Outcome {
  readonly seconds: number;
  readonly cpuMs: number;
  readonly failures: number;
}

const AGENT = `  max_concurrent_agents: ${AT_ONCE}`;

export async function onFile(size: number, options: WatchOptions & { readonly intervalMs?: number } = {}): Promise<Outcome> {
  const { intervalMs } = options;
  const files = {
    'WORKFLOW.md': workflow({ agent: AGENT, ...(intervalMs !== undefined && { intervalMs }) }),
    'issues.json': JSON.stringify(issues(size), null, 2),
  };
  return watch(size, await makeFolder(files), options);
}

async function onFolder(size: number): Promise<Outcome> {
  const directory = await makeFolder({ 'WORKFLOW.md': workflow({ file: 'issues', agent: AGENT }) });
  mkdirSync(path.join(directory, 'issues'));
  for (const { id, identifier, title, state, description } of issues(size)) {
    const text = `---\nid: "${String(id)}"\nidentifier: ${String(identifier)}\ntitle: ${String(title)}\nstate: ${String(state)}\n---\n${String(description)}\n`;
    writeFileSync(path.join(directory, 'issues', `${String(identifier)}.md`), text);
  }
  return watch(size, directory, {});
}

async function onRemote(size: number): Promise<Outcome & { replayed: number }> {
  const remote = await buildGithub(size);
  const directory = await makeFolder({ 'WORKFLOW.md': workflow({ tracker: remote.tracker, agent: AGENT }) });
  const outcome = await watch(size, directory, { env: remote.env });
  await remote.close();
  // A remote that is as the first one was: it answers the same requests as it did then.
  const again = await buildGithub(size);
  const replayed = await again.replay(remote.requests(), AT_ONCE);
  await again.close();
  return { ...outcome, replayed };
}

interface WatchOptions {
  readonly program?: Program;
  readonly env?: Record<string, string>;
}

async function watch(size: number, directory: string, options: WatchOptions): Promise<Outcome> {
  const daemon = await launch(directory, options);
  const [begin, cpu] = [performance.now(), processorMs(daemon.pid)];
  await daemon.until('releasing claim', size);
  const outcome = outcomeOf(daemon, size, { begin, cpu });
  await daemon.stop();
  return outcome;
}

function outcomeOf(daemon: Daemon, size: number, { begin, cpu }: { readonly begin: number; readonly cpu: number }): Outcome {
  const seconds = (performance.now() - begin) / 1000;
  return { seconds, cpuMs: (processorMs(daemon.pid) - cpu) / size, failures: daemon.count('msg="retry scheduled"') };
}

/** Commits that a session cannot do without: its claim, its start, its exit, and the end of its handoff. */
const COMMITS = 4;

/** Writes the issues with these numbers back. */
type WriteBack = (indexes: readonly number[]) => void;
type Prepare = (folder: string, size: number) => WriteBack;

interface Bare {
  /** One session after the other, each with commits and synced files of its own. */
  readonly bare: number;
  /** As many at once as the daemon has, which share each commit and each sync of a folder: the fewest that promise the same. */
  readonly grouped: number;
}

/** The mean of the bare work right before and right after: what a disk takes for a new file changes within minutes. */
async function besideBare<T>(prepare: Prepare, measure: () => Promise<T>): Promise<T & Bare> {
  const before = await bareBoth(prepare);
  const measured = await measure();
  const after = await bareBoth(prepare);
  return { ...measured, bare: (before.bare + after.bare) / 2, grouped: (before.grouped + after.grouped) / 2 };
}

async function bareBoth(prepare: Prepare): Promise<Bare> {
  return { bare: await bareSessions(MANY, 1, prepare), grouped: await bareSessions(MANY, AT_ONCE, prepare) };
}

/**
 * The same directories and committed rows, and the issues written back, so many sessions together and nothing else. As the
 * daemon has them: in one directory, each issue written back when its session is over.
 */
async function bareSessions(size: number, together: number, prepare: Prepare): Promise<number> {
  const folder = await newFolder();
  const workspaces = path.join(folder, 'ws');
  const issuesFolder = path.join(folder, 'issues');
  mkdirSync(workspaces);
  mkdirSync(issuesFolder);
  const writeBack = prepare(issuesFolder, size);
  const db = await openSqlite(path.join(folder, 'x.db'));
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (id TEXT, text TEXT)');
  const begin = performance.now();
  for (let first = 0; first < size; first += together) {
    const indexes = Array.from({ length: together }, (_, offset) => first + offset);
    for (const index of indexes) {
      mkdirSync(path.join(workspaces, `B-${index}`, '.foray'), { recursive: true });
      writeFileSync(path.join(workspaces, `B-${index}`, '.foray', '.gitignore'), '*\n');
    }
    for (let commit = 0; commit < COMMITS; commit += 1) {
      db.exec('BEGIN');
      for (const index of indexes) db.run('INSERT INTO t VALUES (?, ?)', `${index}`, ISSUE);
      db.exec('COMMIT');
    }
    writeBack(indexes);
  }
  const seconds = (performance.now() - begin) / 1000;
  db.close();
  return seconds;
}

const ISSUE = JSON.stringify(issues(1)[0], null, 2);

function writingNothing(): WriteBack {
  return () => {};
}

/** One file for all of those that are written together, on the disk. */
function writingFiles(folder: string): WriteBack {
  return (indexes) =>
    writeFileSync(path.join(folder, `${indexes[0]}`), indexes.map(() => ISSUE).join(), { flush: true } as never);
}

/**
 * Each issue's own file replaced once, as people are promised: written beside it, on the disk before it takes its place,
 * and its place on the disk before the handoff counts.
 */
function replacingFiles(folder: string, size: number): WriteBack {
  for (let index = 0; index < size; index += 1) writeFileSync(path.join(folder, `${index}`), ISSUE);
  const directory = openSync(folder, 'r');
  return (indexes) => {
    for (const index of indexes) {
      const file = path.join(folder, `${index}`);
      writeFileSync(`${file}.new`, ISSUE, { flush: true } as never);
      renameSync(`${file}.new`, file);
    }
    fsyncSync(directory);
    if (indexes.includes(size - 1)) closeSync(directory);
  };
}
