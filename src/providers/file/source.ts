import { stat } from 'node:fs/promises';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { IssueSource } from './records.ts';
import { payloadError } from './failures.ts';
import { createJsonFile } from './json-file.ts';
import { createMarkdownDirectory } from './markdown-dir.ts';

/** The form is looked up at every call: a file may become a directory while the service runs. */
export function createSource(location: string, mayWrite?: ProviderDeps['mayWrite']): IssueSource {
  const json = createJsonFile(location, mayWrite);
  const markdown = createMarkdownDirectory(location, mayWrite);

  async function formOf(method: 'READ' | 'WRITE'): Promise<IssueSource> {
    const stats = await stat(location);
    if (stats.isDirectory()) return markdown;
    if (stats.isFile()) return json;
    throw payloadError(method, location, 'it is neither a file nor a directory');
  }

  return {
    read: async () => (await formOf('READ')).read(),
    find: async (id) => (await formOf('READ')).find(id),
    change: async (edits) => (await formOf('WRITE')).change(edits),
  };
}
