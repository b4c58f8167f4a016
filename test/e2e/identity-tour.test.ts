import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { createPlayground, eventually } from '../support/daemon.ts';
import { buildStage, KINDS, stageWorkflow, type Stage, type StageNames } from './trackers/stage.ts';
import { TOKEN_VARIABLE } from './trackers/stages/parts.ts';

/** Each kind has a credential of its own. */
function variableOf({ kind }: Stage): string {
  return `TOKEN_OF_${kind.toUpperCase()}`;
}

function workflow(stage: Stage): string {
  const text = stageWorkflow(stage, { mock: 'turn_delay_ms: 5000', polling: 'interval_ms: 500' });
  return text.replaceAll(`$${TOKEN_VARIABLE}`, `$${variableOf(stage)}`);
}

it('trackers of every kind take each other’s place while their runs go on: each is handed off where it began', async (test) => {
  const ground = await createPlayground();
  const stages = await Promise.all(KINDS.map((kind) => buildStage(kind, ground)));
  test.onTestFinished(async () => {
    await ground.cleanup();
    for (const stage of stages) await stage.close();
  });
  const issues = new Map<Stage, StageNames>();
  for (const stage of stages) issues.set(stage, await stage.add({ title: `Of ${stage.kind}`, state: stage.states.todo }));
  const env = Object.fromEntries(stages.flatMap((stage) => Object.values(stage.env).map((value) => [variableOf(stage), value])));

  await ground.write('WORKFLOW.md', workflow(stages[0]!));
  const daemon = await ground.start(['--port', '0'], { env });
  const begun = (): number => daemon.records().filter(({ msg }) => msg === 'turn started').length;
  let most = 0;
  for (const [index, stage] of stages.entries()) {
    if (index > 0) await ground.write('WORKFLOW.md', workflow(stage));
    await eventually(begun, (count) => count > index, `a turn for ${stage.kind}`);
    most = Math.max(most, ((await daemon.json('/api/v1/state'))['running'] as unknown[]).length);
  }
  expect(most).toBeGreaterThan(1);

  for (const stage of stages) {
    const { id } = issues.get(stage)!;
    await eventually(
      async () => ({ state: await stage.stateOf(id), comments: await stage.commentsOf(id) }),
      ({ state, comments }) => state === stage.states.handoff && comments.length > 0,
      `the handoff of ${stage.kind}`,
    );
  }
  const { runs } = (await daemon.json('/api/v2/runs')) as { runs: { status: string }[] };
  expect(runs.map(({ status }) => status)).toEqual(KINDS.map(() => 'succeeded'));
  for (const stage of stages) {
    const comments = await stage.commentsOf(issues.get(stage)!.id);
    expect(comments, stage.kind).toEqual([expect.stringContaining(stage.states.handoff)]);
  }

  // Three forges have an issue of the same name: each has a directory of its own.
  const sameName = (await readdir(ground.path('ws'))).filter((name) => /^1(-[0-9a-f]{16})?$/.test(name));
  const forges = [...issues.values()].filter(({ identifier }) => identifier === '1').length;
  expect(sameName).toHaveLength(forges);
  expect((await daemon.stop()).code).toBe(0);
});
