import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** A real process that runs a few lines of TypeScript over this folder's modules. */
export interface TestProcess {
  readonly child: ChildProcess;
  /** Whole lines it has printed, as they come. */
  readonly lines: AsyncIterator<string, undefined>;
  readonly exited: Promise<unknown>;
}

/** Bundles the source, whose imports are relative to this folder, into one file that plain Node can run. */
export async function bundle(source: string, folder: string): Promise<string> {
  const outfile = join(folder, 'program.mjs');
  await build({
    stdin: { contents: source, loader: 'ts', resolveDir: fileURLToPath(new URL('../../../src/store/sqlite/', import.meta.url)) },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // The native module stays where it is installed.
    alias: { '@photostructure/sqlite': import.meta.resolve('@photostructure/sqlite') },
    external: ['file:*'],
    logLevel: 'error',
  });
  return outfile;
}

export interface StartOptions {
  /** Options for Node itself. */
  readonly execArgv?: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

export function start(program: string, args: readonly string[], { execArgv = [], ...user }: StartOptions = {}): TestProcess {
  const child = spawn(process.execPath, [...execArgv, program, ...args], { stdio: ['ignore', 'pipe', 'inherit'], ...user });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]() as AsyncIterator<string, undefined>;
  return { child, lines, exited: once(child, 'exit') };
}
