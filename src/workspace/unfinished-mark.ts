import path from 'node:path';
import { look } from './containment.ts';
import { markNameOf } from './key.ts';
import { clearPlace } from '../lib/remove-place.ts';
import { replaceFile } from '../lib/short-file.ts';

/*
 * A mark beside the workspace says that its directory is half made or half deleted. It is there before the first
 * change and goes after the last one, so that a crash in between never leaves a directory that looks ready.
 */

export function markUnfinished(workspace: string): void {
  // Whatever an agent put there is replaced: a link to a file of somebody else would have that one written.
  replaceFile(markOf(workspace), `${path.basename(workspace)}\n`);
}

export function isUnfinished(workspace: string): boolean {
  return look(markOf(workspace)) !== null;
}

export function clearUnfinished(workspace: string): void {
  if (isUnfinished(workspace)) clearPlace(markOf(workspace));
}

function markOf(workspace: string): string {
  return path.join(path.dirname(workspace), markNameOf(path.basename(workspace)));
}
