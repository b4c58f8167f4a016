import { createPlayground, eventually, type Playground } from '../../test/support/daemon.ts';
import { FORGE_KINDS, reactionsOf } from '../../test/e2e/reactions/forge.ts';
import { openScene } from '../../test/e2e/reactions/scene.ts';
import { buildStage, REMOTE_KINDS, remoteOf, stageWorkflow, type Stage } from '../../test/e2e/trackers/stage.ts';
import { launch } from '../support/daemon.ts';
import { none, told, type Row } from '../table.ts';

/** What each kind asks of its remote: for one issue from poll to handoff, for a poll that finds nothing new, and to clean up. */
export async function requestRows(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const kind of REMOTE_KINDS) rows.push(...(await requestsOf(kind)));
  for (const kind of FORGE_KINDS) rows.push(told(`requests per look at an idle merge request, ${kind}`, '', await perLook(kind)));
  return rows;
}

async function requestsOf(kind: string): Promise<Row[]> {
  const ground = await createPlayground();
  const stage = await buildStage(kind, ground);
  const { proxy } = remoteOf(stage);
  try {
    const idle = await idlePoll(stage, ground);
    await stage.add({ title: 'One', state: stage.states.todo });
    const daemon = await start(stage, ground, 60_000);
    const before = proxy.requests.length;
    await daemon.until('releasing claim');
    const perIssue = proxy.requests.length - before;
    await daemon.stop();
    return [
      told(`requests per issue, poll to handoff, ${kind}`, '', perIssue),
      told(`requests per unchanged poll, ${kind}`, '', idle.perPoll),
      none(`requests of start-up cleanup with no workspace, ${kind}`, idle.cleanup),
    ];
  } finally {
    await stage.close().catch(() => {});
    await ground.cleanup();
  }
}

/** Nothing to do: only cleaning up asks for issues by their states. */
async function idlePoll(stage: Stage, ground: Playground): Promise<{ perPoll: number; cleanup: number }> {
  const { proxy } = remoteOf(stage);
  const daemon = await start(stage, ground, 150);
  await daemon.until('tick completed', 3);
  const [at, ticks] = [proxy.requests.length, daemon.count('tick completed')];
  await daemon.until('tick completed', ticks + 4);
  const perPoll = Math.round((proxy.requests.length - at) / 4);
  const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
  await daemon.stop();
  const calls = /^svc_tracker_requests_total\{operation="fetch_by_states",result="success"\} (\d+)$/m.exec(metrics)?.[1];
  return { perPoll, cleanup: Number(calls ?? 0) };
}

const LOOKS = 3;

/** All seven reactions are on, and nothing is to be done about the merge request. */
async function perLook(kind: string): Promise<number> {
  const closers: (() => unknown)[] = [];
  const scene = await openScene(kind, { onTestFinished: (close: () => unknown) => void closers.push(close) } as never);
  try {
    const { forge } = scene;
    const reactions = reactionsOf(kind).replaceAll(/poll_interval_ms: \d+/g, 'poll_interval_ms: 400');
    const daemon = await scene.begin({ reactions, polling: 'interval_ms: 3600000' });
    forge.ci(forge.number(), 'green');
    await scene.waiting('ci_failure', 'the next push');
    const { requests } = forge.front;
    const begins = (): number[] => requests.flatMap((request, at) => (forge.is.lookup(request) ? [at] : []));
    const from = begins().length;
    const all = await eventually(begins, (found) => found.length > from + LOOKS, 'some looks');
    await daemon.stop();
    return Math.round(((all[from + LOOKS] ?? 0) - (all[from] ?? 0)) / LOOKS);
  } finally {
    for (const close of closers) await close();
  }
}

async function start(stage: Stage, ground: Playground, intervalMs: number) {
  await ground.write('WORKFLOW.md', stageWorkflow(stage, { polling: `interval_ms: ${intervalMs}` }));
  return launch(ground.dir, { env: { ...stage.env } });
}
