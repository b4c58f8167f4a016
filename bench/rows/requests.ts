import { createPlayground, type Playground } from '../../test/support/daemon.ts';
import { buildStage, REMOTE_KINDS, remoteOf, stageWorkflow, type Stage } from '../../test/e2e/trackers/stage.ts';
import { launch } from '../support/daemon.ts';
import { told, type Row } from '../table.ts';

/** What each kind asks of its remote: for one issue from poll to handoff, for a poll that finds nothing new, and to clean up. */
export async function requestRows(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const kind of REMOTE_KINDS) rows.push(...(await requestsOf(kind)));
  return rows;
}

async function requestsOf(kind: string): Promise<Row[]> {
  const ground = await createPlayground();
  const stage = await buildStage(kind, ground);
  const { gate } = remoteOf(stage);
  try {
    const idle = await idlePoll(stage, ground);
    await stage.add({ title: 'One', state: stage.states.todo });
    const daemon = await start(stage, ground, 60_000);
    const before = gate.requests.length;
    await daemon.until('releasing claim');
    const perIssue = gate.requests.length - before;
    await daemon.stop();
    return [
      told(`requests per issue, poll to handoff, ${kind}`, '', perIssue),
      told(`requests per unchanged poll, ${kind}`, '', idle.perPoll),
      { ...told(`requests of start-up cleanup with no workspace, ${kind}`, '', idle.cleanup), goal: '0', ok: idle.cleanup === 0 },
    ];
  } finally {
    await stage.close().catch(() => {});
    await ground.cleanup();
  }
}

/** Nothing to do: only cleaning up asks for issues by their states. */
async function idlePoll(stage: Stage, ground: Playground): Promise<{ perPoll: number; cleanup: number }> {
  const { gate } = remoteOf(stage);
  const daemon = await start(stage, ground, 150);
  await daemon.until('tick completed', 3);
  const [at, ticks] = [gate.requests.length, daemon.count('tick completed')];
  await daemon.until('tick completed', ticks + 4);
  const perPoll = Math.round((gate.requests.length - at) / 4);
  const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
  await daemon.stop();
  const calls = /^svc_tracker_requests_total\{operation="fetch_by_states",result="success"\} (\d+)$/m.exec(metrics)?.[1];
  return { perPoll, cleanup: Number(calls ?? 0) };
}

async function start(stage: Stage, ground: Playground, intervalMs: number) {
  await ground.write('WORKFLOW.md', stageWorkflow(stage, { polling: `interval_ms: ${intervalMs}` }));
  return launch(ground.dir, { env: { ...stage.env } });
}
