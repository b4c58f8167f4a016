import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildCommand } from '../../build-command.mjs';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));

/**
 * The command built with places to crash at. Packages are found from its folder, as from that of the real one. The
 * version is what remotes see of it.
 */
export async function buildCrashing(version = ''): Promise<string> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(path.join(CACHE, 'foray-crashing-'));
  await buildCommand({ outdir: folder, crashPoints: true, version });
  const final = path.join(CACHE, `foray-crashing-${process.pid}${version}`);
  if (existsSync(final)) await rm(final, { recursive: true });
  await rename(folder, final);
  return path.join(final, 'cli.js');
}
