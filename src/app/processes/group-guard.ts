import { GUARD_BEAT_MS } from '../../domain/model/lease-times.ts';
import { childProcess } from '../../lib/child-process.ts';
import type { ProcessLedger } from '../../ports/agent.ts';

/** Process groups that must not outlive this process, however it ends. */
export interface GroupGuard extends ProcessLedger {
  /** The process ends in good order: the guard goes and leaves them alone. */
  stop(): void;
}

/**
 * Hears of groups line by line. When the lines end without a word, the process was killed: its groups go too. When none
 * comes for $1 seconds, the process is stopped (SIGSTOP, a debugger): then as well. Another leader or worker elsewhere
 * begins the same issues anew, and nobody but this host can end them. Seconds are counted one by one, so that a machine
 * that slept does not count its sleep.
 */
const SCRIPT = `
groups=' '
watcher=''
end_all() { for group in $groups; do kill -KILL "-$group"; done; }
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

/** `silentSeconds`: after so many without a sign of this process its groups are ended. */
export function startGroupGuard(silentSeconds: number): GroupGuard {
  // A group of its own: what is sent to this process's does not reach it.
  const child = childProcess().spawn('/bin/sh', ['-c', SCRIPT, 'sh', String(silentSeconds)], {
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
