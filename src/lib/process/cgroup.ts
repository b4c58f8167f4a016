import { existsSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeDirectoriesNow } from '../make-directories.ts';

/**
 * Control groups for what is started: a process cannot leave one by a session of its own or an empty environment, so all
 * that a run started can be ended with it. Only where this process may make groups below its own: on Linux with cgroup
 * v2, as root or where systemd delegated them. https://docs.kernel.org/admin-guide/cgroup-v2.html
 */
export interface ControlGroups {
  /** Puts a process, and whatever it starts from now on, into the group of this name. */
  add(name: string, pid: number): void;
  /** Kills whoever is left in the group and removes it. Resolves when it is gone or cannot be removed. */
  end(name: string): Promise<void>;
  /** The same for every group that was made here. */
  endAll(): Promise<void>;
  /** The same for every group of this prefix that others made. */
  endOthers(): Promise<void>;
}

export interface GroupNames {
  /** Shared by those who work one after the other. */
  readonly prefix: string;
  /** Who makes groups here, told apart from those before and after. */
  readonly maker: string;
}

const REMOVE_TRIES = 20;
const FIRST_PAUSE_MS = 2;

/** Groups below `base`, or none that do anything where they cannot be made. Names are made of letters and digits. */
export function createControlGroups({ prefix, maker }: GroupNames, base: string | null = ownGroup()): ControlGroups {
  let usable = base !== null;
  const own = `${prefix}-${maker}-`;
  const directoryOf = (name: string): string => path.join(base ?? '', `${own}${name}`);

  function add(name: string, pid: number): void {
    if (!usable) return;
    try {
      makeDirectoriesNow(directoryOf(name), 0o755);
      addFamily(path.join(directoryOf(name), 'cgroup.procs'), pid);
    } catch {
      // Groups are not for us.
      usable = false;
    }
  }

  async function endThose(isMeant: (name: string) => boolean): Promise<void> {
    if (base === null) return;
    await Promise.all(
      listed(base)
        .filter(isMeant)
        .map((name) => remove(path.join(base, name))),
    );
  }

  return {
    add,
    end: (name) => (base === null || !existsSync(directoryOf(name)) ? Promise.resolve() : remove(directoryOf(name))),
    endAll: () => endThose((name) => name.startsWith(own)),
    endOthers: () => endThose((name) => name.startsWith(`${prefix}-`) && !name.startsWith(own)),
  };
}

/** The process first: what it starts from then on is inside, and what it started before is among its children. */
function addFamily(members: string, pid: number): void {
  try {
    writeFileSync(members, String(pid));
  } catch (error) {
    // It may have ended already.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  for (const child of childrenOf(pid)) addFamily(members, child);
}

/** Each of its threads has children of its own. */
function childrenOf(pid: number): readonly number[] {
  const lists = listed(`/proc/${pid}/task`).map((thread) => read(`/proc/${pid}/task/${thread}/children`));
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

/** Where this process is in the tree of control groups; null without cgroup v2. */
function ownGroup(): string | null {
  if (process.platform !== 'linux') return null;
  const mount = /^(?:\S+ ){4}(\S+) .* - cgroup2 /m.exec(read('/proc/self/mountinfo'))?.[1];
  const place = /^0::(.*)$/m.exec(read('/proc/self/cgroup'))?.[1];
  return mount === undefined || place === undefined ? null : path.join(mount, place);
}

/** A group goes away only once its last process is gone, which takes a moment after the kill. */
async function remove(directory: string): Promise<void> {
  for (let count = 0, pause = FIRST_PAUSE_MS; count < REMOVE_TRIES; count += 1, pause = Math.min(pause * 2, 100)) {
    kill(directory);
    try {
      rmdirSync(directory);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY') return;
    }
    await delay(pause);
  }
}

function kill(directory: string): void {
  const members = read(path.join(directory, 'cgroup.procs')).split('\n').filter(Boolean).map(Number);
  if (members.length === 0) return;
  try {
    // Since Linux 5.14, and all at once.
    writeFileSync(path.join(directory, 'cgroup.kill'), '1');
  } catch {
    members.forEach(killOne);
  }
}

function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}

function listed(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
