import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPlayground, type Playground } from '../../support/daemon.ts';
import { buildStage, stageWorkflow } from './stage.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

const FILTERS = [
  ['graphql', '{"labels": {"some": {"name": {"eq": "agent"}}}}'],
  ['nsproject', 'labels=agent'],
  ['repoissues', 'label:agent'],
  ['selfhosted', 'labels=agent'],
  ['wfboard', 'labels = agent'],
] as const;

it('explain says in which states it found no issue', async () => {
  const stage = await buildStage('repoissues', ground);
  await stage.add({ title: 'Done', state: stage.states.done });
  await ground.write('WORKFLOW.md', stageWorkflow(stage));
  const said = async () => (await ground.run(['explain'], { env: stage.env })).stdout;
  expect(await said()).toContain('no issue is in an active state (backlog, in-progress)\n');
  await ground.write('WORKFLOW.md', stageWorkflow(stage, { tracker: `${stage.sections['tracker']}\nquery_filter: label:agent` }));
  expect(await said()).toContain(
    'no issue is in an active state (backlog, in-progress) that matches tracker.query_filter (label:agent)\n',
  );
  await stage.close();
});

it.each(FILTERS)('explain says that tracker.query_filter leaves an issue of %s out', async (kind, filter) => {
  const stage = await buildStage(kind, ground);
  const { todo } = stage.states;
  await stage.add({ title: 'Wanted', state: todo, labels: ['agent'] });
  const left = await stage.add({ title: 'Left out', state: todo, labels: ['other'] });
  const tracker = `${stage.sections['tracker']}\nquery_filter: '${filter}'`;
  await ground.write('WORKFLOW.md', stageWorkflow(stage, { tracker }));
  const { code, stdout } = await ground.run(['explain', left.identifier, '--format', 'json'], { env: stage.env });
  const explained = {
    state: todo,
    reason: 'not_listed',
    detail: `state "${todo}" is an active state, but tracker.query_filter (${filter}) leaves the issue out`,
    remedy: 'change the issue so that tracker.query_filter matches it, or change the filter',
  };
  expect([code, JSON.parse(stdout)]).toMatchObject([1, [explained]]);
  if (/^\d+$/.test(left.identifier))
    expect((await ground.run(['explain', `#${left.identifier}`, '--format', 'json'], { env: stage.env })).stdout).toBe(stdout);
  await stage.close();
});
