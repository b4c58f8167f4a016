import { afterAll, expect, it } from 'vitest';
import { openStore } from './open.ts';
import { anOwner, CLOCK, makeFolder, TRACKER } from '../../../test/support/store/database.ts';
import { bundle, start } from '../../../test/support/store/process.ts';
import type { TestProcess } from '../../../test/support/store/process.ts';

/**
 * Stores one unit of work after the other and prints its number once it was told that it is stored. Unit n claims
 * issue n (a retry, or every third time a handoff), parks issue n-1 in its place and begins a run.
 */
const WRITER = `
import { writeSync } from 'node:fs';
import { openStore } from './open.ts';
const [path, from] = process.argv.slice(2);
const issue = (n) => ({ id: 'i' + n, identifier: 'I-' + n, displayIdentifier: null, title: 't', url: 'u', state: 's' });
const base = (n) => ({ issue: issue(n), attempt: n, failures: n, refusals: 0, sessionId: null, since: 1 });
const claim = (n) => n % 3 === 0
  ? { ...base(n), phase: 'handing-off', handoff: { runId: 'r' + n, target: 'review' } }
  : { ...base(n), phase: 'waiting', dueAt: n, error: 'e', then: { kind: 'run', trigger: 'error', reaction: null } };
const run = (n) => ({ id: 'r' + n, issue: issue(n), attempt: n, trigger: 'fresh', agentKind: 'mock', status: 'running', startedAt: n,
  endedAt: null, turns: 0, sessionId: '', workspacePath: '/w', model: null, tokensMeasured: false, costUsd: null, error: null,
  tokens: { inputTokens: 0, outputTokens: 0, totalTokens: 0, cacheReadTokens: 0 } });
const owner = { id: 'writer', pid: process.pid, host: 'here', workflowPath: '/w' };
const store = await openStore({ path, owner, clock: { now: () => 1 } });
for (let n = Number(from); ; n++) {
  await store.apply('${TRACKER}', [
    { write: 'claim', claim: claim(n) },
    { write: 'release', issueId: 'i' + (n - 1) },
    { write: 'park', parked: { issue: issue(n - 1), reason: 'blocked', detail: '', parkedAt: n, stateAtPark: null } },
    { write: 'run', run: run(n) },
    { write: 'run-events', events: [{ runId: 'r' + n, at: n, type: 'message', text: 'x'.repeat(3000) }] },
  ]);
  writeSync(1, n + '\\n');
}
`;

const folder = makeFolder();
afterAll(() => folder.remove());

it('keeps every unit of work it confirmed, and no half of one, when it is killed at any moment', async () => {
  const path = folder.file('.foray.db');
  const program = await bundle(WRITER, folder.path);
  let next = 1;
  // How many confirmations to wait for before the kill: the first moments, then deep into checkpoints of the WAL.
  for (const confirmations of [1, 2, 17, 60, 400, 3]) {
    const writer = start(program, [path, String(next)]);
    const confirmed = await killAfter(writer, confirmations);
    const left = await whatIsLeft(path);
    expect([confirmed, confirmed + 1]).toContain(left.stored);
    expect(left).toEqual(whole(left.stored));
    next = left.stored + 1;
  }
});

/** Kills without warning and gives the last number that was confirmed before. */
async function killAfter({ child, lines, exited }: TestProcess, confirmations: number): Promise<number> {
  let last = 0;
  for (let count = 0; count < confirmations; count++) last = Number((await lines.next()).value);
  child.kill('SIGKILL');
  await exited;
  for (let line = await lines.next(); !line.done; line = await lines.next()) last = Number(line.value);
  return last;
}

interface Left {
  /** The last unit of work of which the run is there. */
  readonly stored: number;
  readonly claims: readonly string[];
  readonly parked: readonly string[];
}

async function whatIsLeft(path: string): Promise<Left> {
  const store = await openStore({ path, owner: anOwner(), clock: CLOCK });
  const { claims, parked } = await store.load(TRACKER);
  const [run] = await store.listRuns({ limit: 1 });
  await store.close();
  return {
    stored: run?.startedAt ?? 0,
    claims: claims.map((claim) => `${claim.issue.id} ${claim.phase}`),
    parked: parked.map((entry) => entry.issue.id),
  };
}

/** What is there after a unit of work, all of it and nothing of the next. */
function whole(stored: number): Left {
  return {
    stored,
    claims: [`i${stored} ${stored % 3 === 0 ? 'handing-off' : 'waiting'}`],
    parked: Array.from({ length: stored }, (_, n) => `i${n}`),
  };
}
