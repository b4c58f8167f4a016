import { describe, expect, it } from 'vitest';
import { createPlayground } from '../support/daemon.ts';
import { buildStage, REMOTE_KINDS, remoteOf, stageWorkflow } from '../e2e/trackers/stage.ts';
import { startChaos } from './chaos-proxy.ts';
import { patiently } from './patiently.ts';

/** `npm run test:faults`: a thousand polls for every kind, or as many as FORAY_FAULTS_POLLS says. The whole suite: a few for one. */
const FULL = process.env['FORAY_FAULTS'] === 'full';
const POLLS = FULL ? Number(process.env['FORAY_FAULTS_POLLS'] ?? 1_000) : 30;
const SEED = Number(process.env['FORAY_FAULTS_SEED'] ?? 20_260_101);

describe.each(FULL ? REMOTE_KINDS : ['nsproject'])('%s behind a network that spoils answers', { timeout: 900_000 }, (kind) => {
  it(`loses no issue in ${POLLS} polls, and hands each over once (seed ${SEED})`, async () => {
    const ground = await createPlayground({ patienceMs: 600_000 });
    const stage = await buildStage(kind, ground);
    const { proxy, origin } = remoteOf(stage);
    const chaos = await startChaos(proxy.url, { seed: SEED });
    try {
      const agent = 'kind: mock\nmax_turns: 1\nmax_retry_backoff_ms: 200\nmax_concurrent_agents: 5';
      const workflow = stageWorkflow(stage, { agent }).replaceAll(proxy.url, chaos.url).replaceAll(origin, chaos.url);
      await ground.write('WORKFLOW.md', workflow);
      const daemon = await ground.start(['--port', '0'], { env: { ...stage.env } });
      await daemon.record('tick completed');
      chaos.spoil(0.3);
      const ids: string[] = [];
      // Those that were answered.
      const ticks = () => daemon.records().filter(({ msg }) => msg === 'tick completed').length;
      const undone = () => Object.entries(chaos.done).flatMap(([name, count]) => (count === 0 ? [name] : []));
      const first = ticks();
      while (ticks() - first < POLLS || undone().length > 0) {
        // Some of it is done to writes alone, for which there must be something to write.
        if (ids.length < POLLS / 5 || undone().length > 0)
          ids.push((await stage.add({ title: `Issue ${ids.length}`, state: stage.states.todo })).id);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      chaos.calm();
      const { handoff } = stage.states;
      const left = async () => {
        const states = await Promise.all(ids.map((id) => stage.stateOf(id)));
        return ids.flatMap((id, index) => (states[index] === handoff ? [] : [`${id} in "${states[index]}"`]));
      };
      await patiently(daemon, async () => (await left()).length === 0, 'every handoff').catch(async (error: unknown) => {
        throw new Error(`not handed over: ${(await left()).join(', ')}`, { cause: error });
      });
      const told = daemon.records().filter(({ msg }) => msg === 'handoff transition succeeded, releasing claim');
      expect(new Set(told.map((record) => record['issue_id'])).size).toBe(ids.length);
      expect(told.length).toBe(ids.length);
      expect(undone()).toEqual([]);
      expect((await daemon.stop()).code).toBe(0);
      console.log(`${kind}: ${ids.length} issues, answers spoiled ${JSON.stringify(chaos.done)}`);
    } finally {
      await chaos.close();
      await stage.close().catch(() => {});
      await ground.cleanup();
    }
  });
});
