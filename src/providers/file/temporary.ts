import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';

/** Where the new text of a file is made, beside it. */
export function temporaryIn(directory: string): string {
  return path.join(directory, `.foray-${randomUUID()}.tmp`);
}

const TEMPORARY = /^\.foray-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;
/** A write takes moments; whoever left one for so long is dead. */
const ABANDONED_MS = 3_600_000;

/** Removes what a process left behind that was killed while it wrote. That it stays hurts nobody. */
export function sweepTemporaries(directory: string): void {
  try {
    const found = readdirSync(directory).filter((name) => TEMPORARY.test(name));
    for (const name of found) removeIfAbandoned(path.join(directory, name));
  } catch {}
}

function removeIfAbandoned(file: string): void {
  if (Date.now() - statSync(file).mtimeMs > ABANDONED_MS) rmSync(file, { force: true });
}
