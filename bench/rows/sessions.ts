import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { issues, launch, makeFolder, processorMs, workflow, type Program } from '../support/daemon.ts';
import { newFolder, roomInMemory } from '../support/folders.ts';
import { buildGithub } from '../support/remote.ts';
import { alike, count, median, none, timesFloor, type Row } from '../table.ts';

const MANY = 2_000;
const AT_ONCE = 100;

/** Whole mock sessions, from poll to handoff. */
export async function sessionRows(): Promise<Row[]> {
  const file = await besideBare(writingFiles, () => onFile(MANY));
  const folder = await besideBare(replacingFiles, () => onFolder(MANY));
  const remote = await besideBare(writingNothing, () => onRemote(MANY));
  const what = `${count(MANY)} mock sessions, ${AT_ONCE} at once`;
  return [
    timesFloor(`${what}, one JSON file`, 's', file.seconds, file.bare, 3),
    timesFloor(`${what}, a folder of Markdown`, 's', folder.seconds, folder.bare, 3),
    timesFloor(`${what}, a loopback repoissues remote`, 's', remote.seconds, remote.replayed + remote.bare, 3),
    none('failed sessions among all of these', file.failures + folder.failures + remote.failures),
  ];
}

const SIZES = [200, 2_000, 20_000];
/** Sessions before those that count, at every size alike: code that runs for the first time is compiled. */
const WARM = 2_000;
/** Issues after them, so that no slot stays empty while they are counted: an end without starts is cheaper. */
const AFTER = AT_ONCE;
/** Of a long list as many as of the middle one: enough to tell what each costs while the others are there. */
const MOST_COUNTED = 2_000;

/** The sizes take turns: what else the machine does falls on all alike. */
const TURNS = 3;

/** Whether an issue costs more where there are many of them. Only processor time is taken, and none of a disk's. */
export async function growthRows(): Promise<Row[]> {
  const root = await roomInMemory();
  const times = new Map(SIZES.map((size): [number, number[]] => [size, []]));
  let [failures, sessions] = [0, 0];
  for (const [size, taken] of Array.from({ length: TURNS }, () => [...times]).flat()) {
    const counted = Math.min(size, MOST_COUNTED);
    const outcome = await onFile(size + AFTER, { warm: WARM, counted, root });
    taken.push(outcome.cpuMs);
    failures += outcome.failures;
    sessions += WARM + counted;
  }
  const costs = new Map([...times].map(([size, taken]) => [size, median(taken)]));
  return [
    none(`failed sessions among ${count(sessions)}`, failures),
    ...alike(`processor time per issue (the first ${count(MOST_COUNTED)} at most, median of ${TURNS})`, 'ms', costs, 1.3),
  ];
}

interface Outcome {
  readonly seconds: number;
  readonly cpuMs: number;
  readonly failures: number;
}

const AGENT = `  max_concurrent_agents: ${AT_ONCE}`;

/** `warm` sessions more are run first and not counted; then `counted` of them, or all. */
export async function onFile(
  size: number,
  options: WatchOptions & { readonly intervalMs?: number; readonly root?: string } = {},
): Promise<Outcome> {
  const { intervalMs, warm = 0, counted = size } = options;
  const files = {
    'WORKFLOW.md': workflow({ agent: AGENT, ...(intervalMs !== undefined && { intervalMs }) }),
    'issues.json': JSON.stringify(issues(warm + size), null, 2),
  };
  return watch(counted, await makeFolder(files, options.root), options);
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
  const replayed = await remote.replay(remote.requests(), AT_ONCE);
  await remote.close();
  return { ...outcome, replayed };
}

interface WatchOptions {
  readonly program?: Program;
  readonly env?: Record<string, string>;
  readonly warm?: number;
  readonly counted?: number;
}

async function watch(size: number, directory: string, { warm = 0, ...options }: WatchOptions): Promise<Outcome> {
  const daemon = await launch(directory, options);
  if (warm > 0) await daemon.until('releasing claim', warm);
  const [begin, cpu] = [performance.now(), processorMs(daemon.pid)];
  await daemon.until('releasing claim', warm + size);
  const seconds = (performance.now() - begin) / 1000;
  const cpuMs = (processorMs(daemon.pid) - cpu) / size;
  const failures = daemon.count('msg="retry scheduled"');
  await daemon.stop();
  return { seconds, cpuMs, failures };
}

/** Commits that a session cannot do without: its claim, its start, its exit, and the end of its handoff. */
const COMMITS = 4;

/** The issue with this number is written back. */
type WriteBack = (index: number) => void;
type Prepare = (folder: string, size: number) => WriteBack;

/** The mean of the bare work right before and right after: what a disk takes for a new file changes within minutes. */
async function besideBare<T>(prepare: Prepare, measure: () => Promise<T>): Promise<T & { readonly bare: number }> {
  const before = await bareSessions(MANY, prepare);
  const measured = await measure();
  const after = await bareSessions(MANY, prepare);
  return { ...measured, bare: (before + after) / 2 };
}

/**
 * The same directories and committed rows, and the issue written back, one after the other and nothing else. As the daemon
 * has them: in one directory, each issue written back when its session is over.
 */
async function bareSessions(size: number, prepare: Prepare): Promise<number> {
  const folder = await newFolder();
  const workspaces = path.join(folder, 'ws');
  const issuesFolder = path.join(folder, 'issues');
  mkdirSync(workspaces);
  mkdirSync(issuesFolder);
  const writeBack = prepare(issuesFolder, size);
  const db = await openSqlite(path.join(folder, 'x.db'));
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (id TEXT, text TEXT)');
  const begin = performance.now();
  for (let index = 0; index < size; index += 1) {
    mkdirSync(path.join(workspaces, `B-${index}`, '.foray'), { recursive: true });
    writeFileSync(path.join(workspaces, `B-${index}`, '.foray', '.gitignore'), '*\n');
    for (let commit = 0; commit < COMMITS; commit += 1) db.run('INSERT INTO t VALUES (?, ?)', `${index}`, ISSUE);
    writeBack(index);
  }
  const seconds = (performance.now() - begin) / 1000;
  db.close();
  return seconds;
}

const ISSUE = JSON.stringify(issues(1)[0], null, 2);

function writingNothing(): WriteBack {
  return () => {};
}

/** Each issue's own file written once, on the disk. */
function writingFiles(folder: string): WriteBack {
  return (index) => writeFileSync(path.join(folder, `${index}`), ISSUE, { flush: true } as never);
}

/**
 * Each issue's own file replaced once, as people are promised: written beside it, on the disk before it takes its place,
 * and its place on the disk before the handoff counts.
 */
function replacingFiles(folder: string, size: number): WriteBack {
  for (let index = 0; index < size; index += 1) writeFileSync(path.join(folder, `${index}`), ISSUE);
  const directory = openSync(folder, 'r');
  return (index) => {
    const file = path.join(folder, `${index}`);
    writeFileSync(`${file}.new`, ISSUE, { flush: true } as never);
    renameSync(`${file}.new`, file);
    fsyncSync(directory);
    if (index === size - 1) closeSync(directory);
  };
}
