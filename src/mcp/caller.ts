import { readFileSync } from 'node:fs';

/** The processes of a run that the daemon started, by their pids. */
export type PidsOf = (runId: string) => readonly number[];

/**
 * Whether a process is who it says it is, and belongs to the run whose token it showed. A token alone can be read by
 * another session of the same user. So the caller is told a word over its connection and must show it as its title:
 * nobody else can change that. Then its ancestors must lead to a process of the run. Only on Linux; elsewhere the token
 * has to do.
 */
export function isCallerOf(runId: string, caller: { readonly pid: number; readonly word: string }, pidsOf: PidsOf): boolean {
  if (process.platform !== 'linux') return true;
  if (titleOf(caller.pid) !== titleFor(caller.word)) return false;
  const own = new Set(pidsOf(runId));
  let pid = caller.pid;
  for (let steps = 0; pid > 1 && steps < MOST_ANCESTORS; steps += 1) {
    if (own.has(pid)) return true;
    pid = parentOf(pid);
  }
  return false;
}

const MOST_ANCESTORS = 64;

/** The title by which a caller shows its word. */
export function titleFor(word: string): string {
  return `foray ${word}`;
}

function titleOf(pid: number): string {
  return readOrEmpty(`/proc/${pid}/cmdline`).split('\0')[0] ?? '';
}

/** The field after the state, see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html. */
function parentOf(pid: number): number {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
