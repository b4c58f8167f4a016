import { GUARD_BEAT_MS } from '../../domain/model/lease-times.ts';
import { childProcess } from '../../lib/child-process.ts';
import type { Marker } from '../../lib/process/index.ts';
import type { ProcessLedger } from '../../ports/agent.ts';

/** Process groups, and who left them, that must not outlive this process, however it ends. */
export interface GroupGuard extends ProcessLedger {
  /** The process ends in good order: the guard goes and leaves them alone. */
  stop(): void;
}

/**
 * Hears of groups line by line. When the lines end without a word, the process was killed: its groups go too. When none
 * comes for $1 seconds, the process is stopped (SIGSTOP, a debugger): then as well. Another leader or worker elsewhere
 * begins the same issues anew, and nobody but this host can end them. Seconds are counted one by one, so that a machine
 * that slept does not count its sleep. Who left the groups is found by $2 in its environment, where the system shows that
 * (Linux), and looked for again as long as somebody is found: it may have started another meanwhile.
 */
const SCRIPT = `
mark=$2
groups=' '
watcher=''
kill_marked() {
  found=''
  for environ in /proc/[0-9]*/environ; do
    marked=\${environ#/proc/}
    marked=\${marked%/environ}
    [ "$marked" = "$PPID" ] && continue
    tr '\\000' '\\n' < "$environ" | grep -qxF "$mark" && kill -KILL "$marked" && found=yes
  done
  [ -n "$found" ]
}
end_all() {
  for group in $groups; do kill -KILL "-$group"; done
  for try in 1 2 3 4 5; do kill_marked || return 0; done
}
watch() {
  [ -z "$watcher" ] || kill "$watcher"
  watcher=''
  [ "$groups" = ' ' ] && return
  ( left=$1; while [ "$left" -gt 0 ]; do sleep 1; left=$((left - 1)); done; end_all ) &
  watcher=$!
}
while read -r word pid; do
  case $word in
    started) groups="$groups$pid " ;;
    ended) rest=' '; for group in $groups; do [ "$group" = "$pid" ] || rest="$rest$group "; done; groups=$rest ;;
    stop) groups=' '; watch "$1"; exit 0 ;;
  esac
  watch "$1"
done
[ -z "$watcher" ] || kill "$watcher"
end_all
`;

/**
 * `silentSeconds`: after so many without a sign of this process its groups are ended. `mark`: what is in the environment of
 * all that this process starts, and of nothing that another one starts.
 */
export function startGroupGuard(silentSeconds: number, mark: Marker): GroupGuard {
  // A group of its own: what is sent to this process's does not reach it.
  const child = childProcess().spawn('/bin/sh', ['-c', SCRIPT, 'sh', String(silentSeconds), mark], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    cwd: '/',
  });
  // Where it cannot be started everything works all the same, as it does on a database of one's own.
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.unref();
  const tell = (line: string): void => void child.stdin.write(`${line}\n`);
  let groups = 0;
  const beat = setInterval(() => groups > 0 && tell('alive'), GUARD_BEAT_MS);
  beat.unref();
  return {
    started(pid) {
      groups += 1;
      tell(`started ${pid}`);
    },
    ended(pid) {
      groups = Math.max(0, groups - 1);
      tell(`ended ${pid}`);
    },
    stop() {
      clearInterval(beat);
      tell('stop');
      child.stdin.end();
    },
  };
}
