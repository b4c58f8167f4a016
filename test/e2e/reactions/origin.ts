import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { TOOL_PATH, type Playground } from '../../support/daemon.ts';

const run = promisify(execFile);

/** The repository behind a forge: real git on the disk, which tells the forge of every push. */
export interface Origin {
  readonly path: string;
  /** Runs git in a folder of the playground, as the user of the daemon would. */
  git(folder: string, ...args: string[]): Promise<string>;
}

/** With one commit on `main`. Whoever uses the playground as home has an identity for commits. */
export async function createOrigin(ground: Playground, forgeUrl: string): Promise<Origin> {
  const git = async (folder: string, ...args: string[]): Promise<string> => {
    const env = { PATH: TOOL_PATH, HOME: ground.dir, GIT_TERMINAL_PROMPT: '0' };
    return (await run('git', args, { cwd: ground.path(folder), env })).stdout.trim();
  };
  await ground.write('.gitconfig', '[user]\n  name = Agent\n  email = agent@example.org\n[init]\n  defaultBranch = main\n');
  await mkdir(ground.path('origin.git'));
  await git('origin.git', 'init', '--quiet', '--bare', '--initial-branch=main', '.');
  const tree = await git('origin.git', 'hash-object', '-t', 'tree', '-w', '/dev/null');
  const first = await git('origin.git', 'commit-tree', tree, '-m', 'First');
  await git('origin.git', 'update-ref', 'refs/heads/main', first);
  await tellOfPushes(ground.path('origin.git', 'hooks'), forgeUrl);
  return { path: ground.path('origin.git'), git };
}

/** A push is over only when the forge knows of it, as on a real one. */
async function tellOfPushes(folder: string, forgeUrl: string): Promise<void> {
  const hook = path.join(folder, 'post-receive');
  const tell = `curl --silent --fail --data-urlencode "ref=$ref" --data "sha=$new" "${forgeUrl}/-/pushed"`;
  await mkdir(folder, { recursive: true });
  await writeFile(hook, `#!/bin/sh\nwhile read -r old new ref; do\n  ${tell}\ndone\n`);
  await chmod(hook, 0o755);
}
