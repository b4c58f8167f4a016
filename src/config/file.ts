import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Problem } from '../domain/model/problem.ts';

const MAX_BYTES = 1024 * 1024;

/** The text of a workflow file, or why there is none. */
export interface WorkflowFile {
  readonly content: string | Problem;
  /** Changes whenever a reader would see something else, faults included. */
  readonly digest: string;
}

/** Reads a workflow file. Never rejects. */
export async function readWorkflowText(workflowPath: string): Promise<WorkflowFile> {
  const absolute = path.resolve(workflowPath);
  try {
    const found = await stat(absolute);
    if (found.isDirectory()) return refused('workflow.unreadable', `${absolute} is a directory, not a workflow file`);
    // A pipe or device could hold the reader up for ever.
    if (!found.isFile()) return refused('workflow.unreadable', `${absolute} is not a regular file`);
    if (found.size > MAX_BYTES) return tooLarge(absolute);
    return decode(await readFile(absolute), absolute);
  } catch (error) {
    return refusedBy(error as NodeJS.ErrnoException, absolute);
  }
}

function decode(bytes: Buffer, absolute: string): WorkflowFile {
  if (bytes.length > MAX_BYTES) return tooLarge(absolute);
  const digest = createHash('sha256').update(bytes).digest('hex');
  try {
    return { content: new TextDecoder('utf-8', { fatal: true }).decode(bytes), digest };
  } catch {
    return { ...refused('workflow.encoding', `${absolute} is not valid UTF-8; save it as UTF-8`), digest };
  }
}

function tooLarge(absolute: string): WorkflowFile {
  return refused('workflow.too_large', `${absolute} is larger than 1 MiB`);
}

function refusedBy(error: NodeJS.ErrnoException, absolute: string): WorkflowFile {
  if (error.code === 'ENOENT') return refused('workflow.missing', `there is no file ${absolute}`);
  return refused('workflow.unreadable', `${absolute} cannot be read: ${error.code ?? error.message}`);
}

function refused(check: string, message: string): WorkflowFile {
  return { content: { severity: 'error', check, message }, digest: check };
}
