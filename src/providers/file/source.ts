import type { BigIntStats } from 'node:fs';
import path from 'node:path';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { IssueForm, IssueSource } from './records.ts';
import { payloadError } from './failures.ts';
import { BY_OPENING, createLook } from './file-access.ts';
import { createJsonFile } from './json-file.ts';
import { createMarkdownDirectory } from './markdown-dir.ts';
import { sweepTemporaries } from './temporary.ts';

/** The form is looked up at every call: a file may become a directory while the service runs. */
export function createSource(location: string, mayWrite?: ProviderDeps['mayWrite']): IssueSource {
  const json = createJsonFile(location, mayWrite);
  const markdown = createMarkdownDirectory(location, mayWrite);
  let last: IssueForm = json;
  const look = createLook(BY_OPENING);
  let sharedBytes = 0;
  let isSwept = false;

  function sweepOnce(directory: string): void {
    if (!isSwept) sweepTemporaries(directory);
    isSwept = true;
  }

  async function formOf(method: 'READ' | 'WRITE'): Promise<{ readonly form: IssueForm; readonly stats: BigIntStats }> {
    const stats = await look(location);
    if (!stats?.isDirectory() && !stats?.isFile()) throw payloadError(method, location, 'it is neither a file nor a directory');
    last = stats.isDirectory() ? markdown : json;
    sharedBytes = stats.isDirectory() ? 0 : Number(stats.size);
    return { form: last, stats };
  }

  return {
    async read() {
      const { form, stats } = await formOf('READ');
      return form.read(stats);
    },
    // Where the form has changed, it finds nothing.
    find: (id) => last.find(id),
    sharedBytes: () => sharedBytes,
    async change(edits) {
      const { form, stats } = await formOf('WRITE');
      sweepOnce(stats.isDirectory() ? location : path.dirname(location));
      return form.change(edits);
    },
  };
}
