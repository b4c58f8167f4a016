import { readFile, stat } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Problem } from '../domain/model/problem.ts';

const MAX_BYTES = 1024 * 1024;

// `node:fs/promises` would be loaded for these two alone when a file is only checked.
const statOf = promisify(stat);
const bytesOf = promisify(readFile);

/** The text of a workflow file, or why there is none. */
export interface WorkflowFile {
  readonly content: string | Problem;
  /** Changes whenever a reader would see something else, faults included. */
  readonly fingerprint: string;
}

/** Reads a workflow file. Never rejects. */
export async function readWorkflowText(workflowPath: string): Promise<WorkflowFile> {
  const absolute = path.resolve(workflowPath);
  try {
    const found = await statOf(absolute);
    if (found.isDirectory()) return refused('workflow.unreadable', `${absolute} is a directory, not a workflow file`);
    // A pipe or device could hold the reader up for ever.
    if (!found.isFile()) return refused('workflow.unreadable', `${absolute} is not a regular file`);
    if (found.size > MAX_BYTES) return tooLarge(absolute);
    return decode(await bytesOf(absolute), absolute);
  } catch (error) {
    return refusedBy(error as NodeJS.ErrnoException, absolute);
  }
}

function decode(bytes: Buffer, absolute: string): WorkflowFile {
  if (bytes.length > MAX_BYTES) return tooLarge(absolute);
  try {
    const content = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { content, fingerprint: content };
  } catch {
    const fault = refused('workflow.encoding', `${absolute} is not valid UTF-8; save it as UTF-8`);
    return { ...fault, fingerprint: bytes.toString('latin1') };
  }
}

function tooLarge(absolute: string): WorkflowFile {
  return refused('workflow.too_large', `${absolute} is larger than 1 MiB`);
}

function refusedBy(error: NodeJS.ErrnoException, absolute: string): WorkflowFile {
  if (error.code === 'ENOENT')
    return refused('workflow.missing', `there is no file ${absolute}: name another one, or let foray init write it`);
  const remedy = ['EACCES', 'EPERM'].includes(error.code ?? '')
    ? ': let the user that runs foray read it and search its folders'
    : '';
  return refused('workflow.unreadable', `${absolute} cannot be read: ${error.code ?? error.message}${remedy}`);
}

function refused(check: string, message: string): WorkflowFile {
  return { content: { severity: 'error', check, message }, fingerprint: check };
}
