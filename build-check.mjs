// `npm run build:check`: builds twice and compares every byte.
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { buildCommand } from './build-command.mjs';

const [first, second] = [await digests(), await digests()];
const names = [...new Set([...first.keys(), ...second.keys()])].toSorted();
const different = names.filter((name) => first.get(name) !== second.get(name));
for (const name of different) console.error(`${name} differs between two builds`);
console.log(
  `${names.length} files, ${different.length} of them differ; ${createHash('sha256')
    .update(JSON.stringify([...first]))
    .digest('hex')}`,
);
process.exitCode = different.length === 0 && names.length > 0 ? 0 : 1;

/** Of every file of a fresh build, in a folder as deep as dist so that source maps name the same places. */
async function digests() {
  const folder = await mkdtemp(path.resolve('.build-'));
  try {
    await buildCommand({ outdir: folder });
    const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    const found = await Promise.all(
      files.map(async (entry) => {
        const file = path.join(entry.parentPath ?? entry.path, entry.name);
        return [
          path.relative(folder, file),
          createHash('sha256')
            .update(await readFile(file))
            .digest('hex'),
        ];
      }),
    );
    return new Map(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
