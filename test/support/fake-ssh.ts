import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** A program `ssh` that runs the command on this machine as a server would: by a shell, in a session of its own. */
export interface FakeSsh {
  /** Put before PATH. */
  readonly folder: string;
  /** The home directory of the account on `host`. */
  homeOf(host: string): Promise<string>;
  /** Whether a host answers. */
  setReachable(host: string, reachable: boolean): Promise<void>;
  remove(): Promise<void>;
}

export async function createFakeSsh(): Promise<FakeSsh> {
  const folder = await realpath(await mkdtemp(path.join(os.tmpdir(), 'foray-ssh-')));
  const file = path.join(folder, 'ssh');
  await writeFile(file, PROGRAM.replaceAll('FOLDER', folder));
  await chmod(file, 0o755);
  return {
    folder,
    async homeOf(host) {
      const home = path.join(folder, `home-${host}`);
      await mkdir(home, { recursive: true });
      return home;
    },
    setReachable: (host, reachable) => writeFile(path.join(folder, `${host}.answers`), reachable ? 'yes' : 'no'),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

// Its own arguments are written down: no secret may be among them.
const PROGRAM = `#!/bin/sh
printf '%s\\n' "$*" >> 'FOLDER/commands'
while [ "$1" != -- ]; do shift; done
host=$2
if [ "$(cat "FOLDER/$host.answers" 2>/dev/null)" = no ]; then
  echo "ssh: connect to host $host port 22: Connection refused" >&2
  exit 255
fi
home=FOLDER/home-$host
mkdir -p "$home"
wire=$(mktemp -d FOLDER/wire-XXXXXX)
mkfifo "$wire/in" "$wire/err"
exec 3<&0
cat <&3 >"$wire/in" &
input=$!
cat <"$wire/err" >&2 &
errors=$!
{ (cd "$home" && exec setsid -w env -i HOME="$home" PATH="\${FAR_PATH:-$PATH}" USER=far sh -c "$3" 3<&-); echo $? >"$wire/code"; } <"$wire/in" 2>"$wire/err" | cat
kill "$input" 2>/dev/null
wait "$errors"
code=$(cat "$wire/code")
rm -rf "$wire"
exit "$code"
`;
