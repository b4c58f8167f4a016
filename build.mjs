// `npm run build`: makes dist/cli.js.
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { buildCommand } from './build-command.mjs';

const made = new Set(await buildCommand({ outdir: 'dist' }));

// What an earlier build left goes after the new one is there: a command that is running finds its parts meanwhile.
for (const name of await readdir('dist', { recursive: true, withFileTypes: true })) {
  const file = path.join(path.relative('.', name.parentPath ?? name.path), name.name);
  if (name.isFile() && !made.has(file)) await rm(file);
}
