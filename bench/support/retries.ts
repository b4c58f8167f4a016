import path from 'node:path';
import { readWorkflowFile, requireGood } from '../../src/app/workflow.ts';
import type { Write } from '../../src/domain/model/durable.ts';
import { openStore } from '../../src/store/sqlite/open.ts';

/** The database of the workflow in a folder, with this many issues that wait for their next try, none of them due. */
export async function storeRetries(folder: string, size: number): Promise<void> {
  const { settings } = requireGood(await readWorkflowFile(path.join(folder, 'WORKFLOW.md'), process.env));
  const { identity } = settings.tracker;
  const owner = { id: 'bench', pid: process.pid, host: 'bench', workflowPath: folder };
  const store = await openStore({ path: settings.dbPath, owner, clock: { now: Date.now } });
  const now = Date.now();
  const writes = Array.from({ length: size }, (_, index): Write => {
    const id = `${index + 1}`;
    const issue = { id, identifier: `B-${id}`, displayIdentifier: null, title: `Issue ${id}`, url: '', state: 'todo' };
    const then = { kind: 'run', trigger: 'error', reaction: null } as const;
    const waiting = { phase: 'waiting', dueAt: now + 3_600_000, error: 'it failed', then } as const;
    return { write: 'claim', claim: { issue, attempt: 1, failures: 1, refusals: 0, sessionId: null, since: now, ...waiting } };
  });
  await store.enter({ identity, configured: identity, label: identity });
  await store.apply(identity, writes);
  await store.close();
}
