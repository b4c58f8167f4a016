// `npm run build:check`: builds in two places and compares every byte.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('.', import.meta.url));
/** Neither as long nor as deep as the other: what a file keeps of the place that it was built in shows. */
const PLACES = ['here', 'a-longer-way/down/to/there'];

const work = await mkdtemp(path.join(os.tmpdir(), 'foray-build-'));
try {
  const [first, second] = await Promise.all(PLACES.map((place) => digests(path.join(work, place))));
  const names = [...new Set([...first.keys(), ...second.keys()])].toSorted();
  const different = names.filter((name) => first.get(name) !== second.get(name));
  for (const name of different) console.error(`${name} differs between two builds`);
  console.log(
    `${names.length} files, ${different.length} of them differ; ${createHash('sha256')
      .update(JSON.stringify([...first]))
      .digest('hex')}`,
  );
  process.exitCode = different.length === 0 && names.length > 0 ? 0 : 1;
} finally {
  await rm(work, { recursive: true, force: true });
}

/** Of every file of a fresh build of this repository in a folder of its own. */
async function digests(place) {
  const sources = (await readdir(REPOSITORY)).filter((name) => name === 'src' || /\.(?:mjs|json)$/.test(name));
  await Promise.all(sources.map((name) => cp(path.join(REPOSITORY, name), path.join(place, name), { recursive: true })));
  await symlink(path.join(REPOSITORY, 'node_modules'), path.join(place, 'node_modules'), 'junction');
  execFileSync(process.execPath, ['build.mjs'], { cwd: place, stdio: 'inherit' });
  const folder = path.join(place, 'dist');
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
}
