import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { getRawAsset } from 'node:sea';
import { makeDirectoriesNow } from '../../lib/make-directories.ts';

/**
 * Loads the database library that the single-file command carries. The system loads libraries from files alone, so it is
 * written once into the user's cache, under the digest of its content.
 */
export function loadLibrary(): unknown {
  const bytes = Buffer.from(getRawAsset('sqlite.node') as ArrayBuffer);
  const module: { exports: unknown } = { exports: {} };
  process.dlopen(module, placed(bytes));
  return module.exports;
}

function placed(bytes: Buffer): string {
  const digest = createHash('sha256').update(bytes).digest('hex');
  const file = path.join(folder(), `sqlite-${digest.slice(0, 16)}.node`);
  // What another program may have put there is not loaded.
  if (existsSync(file) && createHash('sha256').update(readFileSync(file)).digest('hex') === digest) return file;
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, bytes, { mode: 0o700 });
  renameSync(beside, file);
  return file;
}

/** In the user's own cache, which nobody else writes to; in a folder for this process where there is none. */
function folder(): string {
  const cache = path.join(process.env['XDG_CACHE_HOME'] || path.join(os.homedir(), '.cache'), 'foray');
  try {
    makeDirectoriesNow(cache, 0o700);
    chmodSync(cache, 0o700);
    return cache;
  } catch {
    const own = mkdtempSync(path.join(os.tmpdir(), 'foray-'));
    process.on('exit', () => rmSync(own, { recursive: true, force: true }));
    return own;
  }
}
