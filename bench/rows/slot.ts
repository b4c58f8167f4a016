import { issues, launch, makeFolder, workflow, type WorkflowParts } from '../support/daemon.ts';
import { buildGithub } from '../support/remote.ts';
import { atMost, percentile, type Row } from '../table.ts';

/** Enough that one moment in which the machine did something else is no percent of them. */
const SESSIONS = 300;

/** From the end of one session to the start of the next, with one slot and the longest interval between polls. */
export async function slotRows(): Promise<Row[]> {
  const remote = await buildGithub(SESSIONS);
  const rows = [await slotRow('file', {}, {}), await slotRow('repoissues', { tracker: remote.tracker }, remote.env)];
  await remote.close();
  return rows;
}

async function slotRow(where: string, parts: WorkflowParts, env: Record<string, string>): Promise<Row> {
  const directory = await makeFolder({
    'WORKFLOW.md': workflow({ ...parts, intervalMs: 60_000, agent: '  max_concurrent_agents: 1' }),
    'issues.json': JSON.stringify(issues(SESSIONS)),
  });
  const daemon = await launch(directory, { env });
  const patience = new Promise<void>((resolve) => setTimeout(resolve, 60_000));
  await Promise.race([daemon.until('releasing claim', SESSIONS), patience]);
  const gaps = gapsIn(daemon.log());
  await daemon.stop();
  const row = `slot free to next session, poll interval 60 s, 99th percentile, ${where}`;
  if (gaps.length < SESSIONS - 1) return { ...atMost(row, 'ms', 60_000, 50), ok: false };
  return atMost(row, 'ms', percentile(gaps, 0.99), 50);
}

/** Milliseconds between each end and the start that follows it. */
function gapsIn(log: string): number[] {
  const gaps: number[] = [];
  let endedAt: number | null = null;
  for (const line of log.split('\n')) {
    const at = Date.parse(/ time=(\S+)$/.exec(line)?.[1] ?? '');
    if (line.includes('msg="worker exiting"') || line.includes('msg="worker exited"')) endedAt = at;
    if (endedAt === null || !line.includes('msg="agent session started"')) continue;
    gaps.push(at - endedAt);
    endedAt = null;
  }
  return gaps;
}
