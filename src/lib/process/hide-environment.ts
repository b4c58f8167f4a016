import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/**
 * Takes variables out of this process's environment: out of `process.env`, and out of the memory that the system shows to
 * others as `/proc/<pid>/environ`, which keeps what the process was started with. Returns the names that others can still
 * read there. Elsewhere than on Linux there is no such file, and none is returned.
 */
export function hideFromEnvironment(names: readonly string[]): readonly string[] {
  for (const name of names) delete process.env[name];
  if (process.platform !== 'linux' || names.length === 0) return [];
  try {
    overwrite(entriesOf(names));
  } catch {
    // No /proc, or one that does not let us write: what is still there is told below.
  }
  return visible(names);
}

interface Entry {
  /** Where it begins, counted from the start of the environment. */
  readonly at: number;
  readonly length: number;
}

/** Where the `NAME=value` entries of these names are. */
function entriesOf(names: readonly string[]): readonly Entry[] {
  const environment = readFileSync('/proc/self/environ');
  const entries: Entry[] = [];
  for (let at = 0; at < environment.length;) {
    const end = environment.indexOf(0, at);
    const length = (end === -1 ? environment.length : end) - at;
    const name = environment.toString('utf8', at, at + length).split('=', 1)[0] ?? '';
    if (length > 0 && names.includes(name)) entries.push({ at, length });
    at += length + 1;
  }
  return entries;
}

/**
 * The environment lies on the stack; a process may write its own memory. Fields 50 and 51 of the process's status say
 * where it begins and ends: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
function overwrite(entries: readonly Entry[]): void {
  if (entries.length === 0) return;
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const start = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[ENV_START_FIELD]);
  if (!Number.isSafeInteger(start) || start <= 0) return;
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    for (const { at, length } of entries) writeSync(memory, Buffer.alloc(length), 0, length, start + at);
  } finally {
    closeSync(memory);
  }
}

/** Field 50, counted from the third, which is the first after the program's name. */
const ENV_START_FIELD = 50 - 3;

function visible(names: readonly string[]): readonly string[] {
  try {
    const shown = readFileSync('/proc/self/environ', 'utf8').split('\0');
    return names.filter((name) => shown.some((entry) => entry.startsWith(`${name}=`)));
  } catch {
    return [];
  }
}
