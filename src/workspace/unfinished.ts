import { unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, look } from './containment.ts';
import { markNameOf } from './key.ts';

/*
 * A mark beside the workspace says that its directory is half made or half deleted. It is there before the first
 * change and goes after the last one, so that a crash in between never leaves a directory that looks ready.
 */

export async function markUnfinished(workspace: string): Promise<void> {
  await writeFile(markOf(workspace), `${path.basename(workspace)}\n`);
}

export function isUnfinished(workspace: string): boolean {
  return look(markOf(workspace)) !== null;
}

export async function clearUnfinished(workspace: string): Promise<void> {
  if (!isUnfinished(workspace)) return;
  await unlink(markOf(workspace)).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
}

function markOf(workspace: string): string {
  return path.join(path.dirname(workspace), markNameOf(path.basename(workspace)));
}
