import { spawn } from 'node:child_process';
import type { ProcessLedger } from '../ports/agent.ts';

/** Process groups that must not outlive this daemon, however it ends. */
export interface GroupGuard extends ProcessLedger {
  /** The daemon ends in good order: the guard goes and leaves them alone. */
  stop(): void;
}

/**
 * Hears of groups line by line. When the lines end without a word, the daemon was killed: its groups go too. A leader
 * elsewhere may begin the same issues anew, and nobody but this host could end them.
 */
const SCRIPT = `
groups=' '
while read -r word pid; do
  case $word in
    started) groups="$groups$pid " ;;
    ended) left=' '; for group in $groups; do [ "$group" = "$pid" ] || left="$left$group "; done; groups=$left ;;
    stop) exit 0 ;;
  esac
done
for group in $groups; do kill -KILL "-$group"; done
`;

export function startGroupGuard(): GroupGuard {
  // A group of its own: what is sent to the daemon's does not reach it.
  const child = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, env: {}, cwd: '/' });
  // Where it cannot be started the daemon works all the same, as it does on a database of its own.
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.unref();
  const tell = (line: string): void => void child.stdin.write(`${line}\n`);
  return {
    started: (pid) => tell(`started ${pid}`),
    ended: (pid) => tell(`ended ${pid}`),
    stop() {
      tell('stop');
      child.stdin.end();
    },
  };
}
