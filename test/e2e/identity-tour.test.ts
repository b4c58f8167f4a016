import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { createPlayground, eventually } from '../support/daemon.ts';
import { buildStage, KINDS, stageWorkflow, type Stage, type StageNames } from './trackers/stage.ts';
import { TOKEN_VARIABLE } from './trackers/stages/parts.ts';

const PROMPT = 'Work on {{ .issue.title }}.{{ range .issue.comments }} [{{ .body }}]{{ end }}';

/** Each kind has a credential of its own. */
function variableOf({ kind }: Stage): string {
  return `TOKEN_OF_${kind.toUpperCase()}`;
}

function workflow(stage: Stage): string {
  const tracker = `${stage.sections['tracker'] ?? ''}\nauthors: [ADA]`;
  const text = stageWorkflow(stage, { tracker, mock: 'turn_delay_ms: 5000', polling: 'interval_ms: 500' }, PROMPT);
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
  const theirs = new Map<Stage, StageNames>();
  for (const stage of stages) {
    const issue = { title: `Of ${stage.kind}`, state: stage.states.todo };
    const comments = ['ada', 'eve'].map((author) => ({ author, body: `by ${author}`, createdAt: '2026-03-01T08:00:00Z' }));
    issues.set(stage, await stage.add({ ...issue, author: 'ada', comments }));
    theirs.set(stage, await stage.add({ ...issue, author: 'eve' }));
  }
  const env = Object.fromEntries(stages.flatMap((stage) => Object.values(stage.env).map((value) => [variableOf(stage), value])));

  await ground.write('WORKFLOW.md', workflow(stages[0]!));
  const daemon = await ground.start(['--port', '0'], { env });
  const begun = (): number => daemon.records().filter(({ msg }) => msg === 'turn started').length;
  const strangers = (): number => daemon.records().filter(({ reason }) => reason === 'untrusted_author').length;
  let most = 0;
  for (const [index, stage] of stages.entries()) {
    if (index > 0) await ground.write('WORKFLOW.md', workflow(stage));
    await eventually(begun, (count) => count > index, `a turn for ${stage.kind}`);
    await eventually(strangers, (count) => count > index, `the stranger's issue of ${stage.kind} to be held`);
    most = Math.max(most, ((await daemon.json('/api/v1/state'))['running'] as unknown[]).length);
  }
  expect(most).toBeGreaterThan(1);

  for (const stage of stages) {
    const { id } = issues.get(stage)!;
    await eventually(
      async () => ({ state: await stage.stateOf(id), comments: await stage.commentsOf(id) }),
      ({ state, comments }) => state === stage.states.handoff && comments.length > 2,
      `the handoff of ${stage.kind}`,
    );
  }
  const { runs } = (await daemon.json('/api/v2/runs')) as { runs: { id: string; status: string }[] };
  expect(runs.map(({ status }) => status)).toEqual(KINDS.map(() => 'succeeded'));
  for (const stage of stages) {
    const comments = await stage.commentsOf(issues.get(stage)!.id);
    expect(comments.slice(2), stage.kind).toEqual([expect.stringContaining(stage.states.handoff)]);
    expect(await stage.stateOf(theirs.get(stage)!.id), stage.kind).toBe(stage.states.todo);
  }
  // Of what people say, only the words of those who are named reach an agent.
  for (const { id } of runs) {
    const story = JSON.stringify(await daemon.json(`/api/v2/runs/${id}`));
    expect(story).toContain('[by ada]');
    expect(story).not.toContain('by eve');
  }

  // Three forges have an issue of the same name: each has a directory of its own.
  const sameName = (await readdir(ground.path('ws'))).filter((name) => /^1(-[0-9a-f]{16})?$/.test(name));
  const forges = [...issues.values()].filter(({ identifier }) => identifier === '1').length;
  expect(sameName).toHaveLength(forges);
  expect((await daemon.stop()).code).toBe(0);
});
