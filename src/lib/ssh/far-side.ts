/**
 * What runs on the far side of a connection, in the words of a POSIX shell. It reads a first line of script, then frames,
 * one a line: `d` data for the program's input, `e` the end of that input, `s` a signal for the group, `k` still here.
 * The group of the shell, which the SSH server makes a leader, is ended when the program ends, when the input breaks off
 * and when nothing was heard for a while: a connection can die without anybody being told.
 */

/**
 * The whole command line: every user of the host can read it, so it says nothing. A shell whose printf is a program of
 * its own would show what it prints to them, and is refused before anything secret is read.
 */
export const BOOTSTRAP = `exec sh -c 'case $(command -v printf) in /*) echo "no printf in this shell" >&2; exit 90;; esac; IFS= read -r s && eval "$(printf %b "$s")"'`;

/** Begins a line of ours on standard error. */
export const SIGN = '\u001eforay ';

const FUNCTIONS = String.raw`
say() { printf '\036foray %s\n' "$1" >&2; }
strays() {
  if [ -n "$mark" ] && [ -r /proc/self/environ ]; then
    for f in $(grep -lsF -- "$mark" /proc/[0-9]*/environ 2>/dev/null); do
      p=\${f#/proc/}; p=\${p%/environ}
      if [ "$p" != $$ ] && tr '\0' '\n' 2>/dev/null <"$f" | grep -qxF -- "$mark"; then kill -s KILL "$p" 2>/dev/null; fi
    done
  fi
}
end() { strays; kill -s KILL 0; }
arm() {
  if [ -n "$timer" ]; then kill -s KILL "$timer" 2>/dev/null; fi
  ( sleep "$patience"; end ) </dev/null >/dev/null 2>&1 &
  timer=$!
}
watch() {
  trap '' TERM INT HUP PIPE
  timer=
  arm
  while IFS= read -r line; do
    case $line in
      d*) printf %b "\${line#d}" 2>/dev/null ;;
      e) exec >/dev/null ;;
      k) arm ;;
      s*) kill -s "\${line#s}" 0 ;;
    esac
  done
  exec >/dev/null
  kill -s TERM 0
  sleep "$grace"
  end
}
trap : TERM INT HUP
PATH=$HOME/.local/bin:$HOME/bin:$PATH
kill -s 0 -- -$$ 2>/dev/null || { say 'failed group'; exit 91; }
cd -- "$dir" 2>/dev/null || { say 'failed directory'; exit 92; }
command -v -- "$1" >/dev/null 2>&1 || { say 'failed program'; exit 93; }
say started
watch | { trap : TERM INT HUP; "$@"; code=$?; say "exit $code"; end; }
`.replaceAll('\\$', '$');

export interface FarProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** `NAME=value` in the environment of everything the program starts: what left the group is found by it. Empty for none. */
  readonly marker: string;
  /** How long the program may take to leave when the connection breaks. */
  readonly graceMs: number;
  /** How long the far side goes on without a word from the near side. */
  readonly patienceMs: number;
}

/** The first line for the far side: the program and its environment, and what watches over it. */
export function firstLine({ command, args, cwd, env, marker, graceMs, patienceMs }: FarProgram): string {
  const variables = Object.entries(env).filter(([name]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  const script = [
    ...variables.map(([name, value]) => `export ${name}=${quoted(value)}`),
    `mark=${quoted(marker)}`,
    `grace=${Math.ceil(graceMs / 1_000)}`,
    `patience=${Math.ceil(patienceMs / 1_000)}`,
    `dir=${quoted(cwd)}`,
    `set -- ${[command, ...args].map(quoted).join(' ')}`,
    FUNCTIONS,
  ].join('\n');
  return `${encoded(Buffer.from(script))}\n`;
}

const FRAME_BYTES = 32 * 1024;

/** Input for the program, as frames. */
export function dataFrames(text: string): string {
  const bytes = Buffer.from(text);
  const frames: string[] = [];
  for (let at = 0; at < bytes.length; at += FRAME_BYTES) frames.push(`d${encoded(bytes.subarray(at, at + FRAME_BYTES))}\n`);
  return frames.join('');
}

/** As `printf %b` reads it: letters of ASCII alone, since shells differ in what they do to other bytes they read. */
function encoded(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replaceAll(/[^\u0020-\u005b\u005d-\u007e]/g, (letter) => `\\0${letter.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

/** One word of a shell. A NUL cannot be said there. */
function quoted(text: string): string {
  return `'${text.replaceAll('\0', '').replaceAll("'", String.raw`'\''`)}'`;
}
