import { readdirSync, readFileSync } from 'node:fs';
import { childProcess } from './child-process.ts';

/** One process for all time: its pid may be given to another one, its pid and start time together may not. */
export interface ProcessMark {
  readonly pid: number;
  readonly startTime: string;
}

/** When the process started, in a form that is only good for comparing; null when it is gone. */
export function processStartTime(pid: number): string | null {
  const found = PROCESSES.find(pid);
  return found && !found.zombie ? found.startTime : null;
}

export function isSameProcess(mark: ProcessMark): boolean {
  return mark.startTime !== '' && processStartTime(mark.pid) === mark.startTime;
}

/** The living processes of a group. */
export function groupMembers(pgid: number): readonly number[] {
  if (!mayBeGroup(pgid)) return [];
  return PROCESSES.list()
    .filter((found) => found.pgid === pgid && !found.zombie)
    .map((found) => found.pid);
}

/**
 * What is left of a group whose leader was recorded. While the leader's pid is still its own the whole group is meant.
 * When it is gone the number may have been given to a stranger's group: then only processes count that carry the
 * marker (`NAME=value`) in the environment they were started with.
 */
export function groupSurvivors(leader: ProcessMark, marker: string): readonly number[] {
  const members = groupMembers(leader.pid);
  const found = PROCESSES.find(leader.pid);
  const ours = found !== null && leader.startTime !== '' && found.startTime === leader.startTime;
  return ours ? members : members.filter((pid) => PROCESSES.environment(pid).includes(marker));
}

// 0 is the caller's own group to the kernel and 1 belongs to init: never a session's.
function mayBeGroup(pgid: number): boolean {
  return Number.isSafeInteger(pgid) && pgid > 1;
}

interface Found extends ProcessMark {
  readonly pgid: number;
  /** Dead, and only waits for its parent to take notice. */
  readonly zombie: boolean;
}

/** The system's table of processes. */
export interface ProcessTable {
  find(pid: number): Found | null;
  list(): readonly Found[];
  /** `NAME=value` entries; empty where they may not be read. */
  environment(pid: number): readonly string[];
}

/** Linux: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
export const procTable: ProcessTable = {
  find: (pid) => findInProc(pid, bootId()),
  list() {
    const boot = bootId();
    return procPids()
      .map((pid) => findInProc(pid, boot))
      .filter((found) => found !== null);
  },
  environment: (pid) => environmentText(pid).split('\0'),
};

/** The same as one text, its entries ended by a NUL each. */
export function environmentText(pid: number): string {
  return readOrNull(`/proc/${pid}/environ`) ?? '';
}

/** Everything that has a number there, dead or alive. */
export function procPids(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function findInProc(pid: number, boot: string): Found | null {
  const stat = readOrNull(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The second field is the program's name in brackets and may hold anything, brackets and blanks too.
  const [state = '', , pgid, ...later] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // Field 22 counts from the boot, so it needs the boot's own id.
  return { pid, pgid: Number(pgid), zombie: 'ZXx'.includes(state), startTime: `${boot}:${later[16]}` };
}

function bootId(): string {
  return readOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** Systems without /proc, such as macOS. */
const psTable: ProcessTable = {
  find: (pid) => parsePs(ps('-o', PS_COLUMNS, '-p', String(pid)))[0] ?? null,
  list: () => parsePs(ps('-A', '-o', PS_COLUMNS)),
  environment: (pid) => ps('eww', '-o', 'command=', '-p', String(pid)).trim().split(/\s+/),
};

const PS_COLUMNS = 'pid=,pgid=,stat=,lstart=';

// Fixed locale and zone: the start time is compared as text.
function ps(...args: string[]): string {
  const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  try {
    return childProcess().execFileSync('ps', args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}

/** Reads the columns above. */
export function parsePs(text: string): Found[] {
  const rows = text.matchAll(/^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/gm);
  return [...rows].map(([, pid, pgid, state = '', startTime = '']) => ({
    pid: Number(pid),
    pgid: Number(pgid),
    zombie: state.startsWith('Z'),
    startTime,
  }));
}

const PROCESSES: ProcessTable = process.platform === 'linux' ? procTable : psTable;
