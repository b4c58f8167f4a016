import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

/**
 * Loads the binary of the database library from its package, which lies in a `node_modules` above the built command. The
 * package's own loader would be found and compiled anew at each start, and takes ten times as long.
 */
export function loadLibrary(home: string): unknown {
  const file = binaryIn(packageAbove(home));
  const module: { exports: unknown } = { exports: {} };
  process.dlopen(module, file);
  return module.exports;
}

const NAME = '@photostructure/sqlite';

/** The nearest one above, or wherever Node finds it. */
function packageAbove(home: string): string {
  for (let at = home; at !== path.dirname(at); at = path.dirname(at)) {
    const folder = path.join(at, 'node_modules', NAME);
    if (existsSync(folder)) return folder;
  }
  const { createRequire } = process.getBuiltinModule('node:module');
  return path.dirname(createRequire(path.join(home, 'any.js')).resolve(`${NAME}/package.json`));
}

/** One that was compiled on this machine, or the one of the package for its system and C library. */
function binaryIn(library: string): string {
  const { platform, arch, env } = process;
  const libc = env['LIBC'] || (platform === 'linux' && existsSync('/etc/alpine-release') ? 'musl' : 'glibc');
  const compiled = binariesOf(path.join(library, 'build', 'Release'));
  const ready = binariesOf(path.join(library, 'prebuilds', `${platform}-${arch}`));
  const file = compiled[0] ?? ready.find((one) => one.endsWith(`.${libc}.node`)) ?? (ready.length === 1 ? ready[0] : undefined);
  if (file === undefined) throw new Error(`the database library has no binary for ${platform} ${arch} ${libc}`);
  return file;
}

function binariesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith('.node'));
  return names.map((name) => path.join(folder, name));
}
