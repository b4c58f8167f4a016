import { readFileSync } from 'node:fs';
import { childProcess } from '../child-process.ts';

/** A user of this machine that programs are started as. */
export interface ProgramUser {
  readonly name: string;
  readonly uid: number;
  /** Its own group. The groups of the daemon are given up, and no further ones taken. */
  readonly gid: number;
  readonly home: string;
}

/** The user of this name, or null. Those of a directory service are found where `getent` is there. */
export function findUser(name: string): ProgramUser | null {
  return entryOf(name, readPasswd()) ?? entryOf(name, askDirectory(name));
}

/** Why programs cannot be started as this user, told for an operator; null where they can. */
export function userProblem(name: string): string | null {
  const user = findUser(name);
  if (user === null) return `this machine has no user ${name}: create it, or name another one`;
  const own = process.getuid?.();
  if (own === undefined) return 'this system does not let programs be started as another user';
  if (own === 0 || own === user.uid) return null;
  return `foray runs as user ${own} and may not start programs as ${name}: run it as root, or take the key out`;
}

/** Its environment: what points into the home of the daemon's own user is left out. */
export function environmentOf(user: ProgramUser, env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(
    ([variable]) => !/^XDG_|^(?:SSH_AUTH_SOCK|DBUS_SESSION_BUS_ADDRESS|MAIL)$/.test(variable),
  );
  return { ...Object.fromEntries(kept), HOME: user.home, USER: user.name, LOGNAME: user.name };
}

/** `name:password:uid:gid:comment:home:shell`, see https://man7.org/linux/man-pages/man5/passwd.5.html. */
function entryOf(name: string, text: string): ProgramUser | null {
  for (const line of text.split('\n')) {
    const [found, , uid = '', gid = '', , home = ''] = line.split(':');
    if (found !== name || !/^\d+$/.test(uid) || !/^\d+$/.test(gid)) continue;
    return { name, uid: Number(uid), gid: Number(gid), home: home === '' ? '/' : home };
  }
  return null;
}

function readPasswd(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}

function askDirectory(name: string): string {
  try {
    return childProcess().execFileSync('getent', ['passwd', '--', name], {
      encoding: 'utf8',
      timeout: 5_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return '';
  }
}
