import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlayground, type Playground } from '../../support/daemon.ts';
import { buildStage, KINDS, stageWorkflow } from './stage.ts';

let ground: Playground;
beforeEach(async () => {
  ground = await createPlayground();
});
afterEach(() => ground.cleanup());

/** Kinds whose issues know what blocks them. */
const WITH_BLOCKERS: readonly string[] = ['file', 'graphql', 'repoissues', 'selfhosted', 'wfboard'];

describe('a dry run', () => {
  it.each(KINDS)('of %s holds what is blocked, and only reads', async (kind) => {
    const stage = await buildStage(kind, ground);
    const { states } = stage;
    const done = await stage.add({ title: 'Done', state: states.done });
    const free = await stage.add({ title: 'Free', state: states.todo, blockedBy: [done.id] });
    const blocked = await stage.add({ title: 'Blocked', state: states.doing, blockedBy: [free.id] });
    await stage.add({ title: 'Handed off', state: states.handoff });
    await ground.write('WORKFLOW.md', stageWorkflow(stage));
    const finished = await ground.run(['--dry-run', 'WORKFLOW.md'], { env: stage.env });
    expect(finished.code).toBe(0);
    const candidates = finished.records.filter(({ msg }) => msg === 'dry run candidate');
    const found = candidates.map((record) => [record['issue_id'], record['state'], record['would_dispatch']]);
    const isFree = String(!WITH_BLOCKERS.includes(kind));
    expect(found.sort()).toEqual(
      [
        [free.id, states.todo, 'true'],
        [blocked.id, states.doing, isFree],
      ].sort(),
    );
    expect(stage.remote?.proxy.requests.filter(stage.remote.isWrite) ?? []).toEqual([]);
    expect(await Promise.all([free, blocked].map(({ id }) => stage.stateOf(id)))).toEqual([states.todo, states.doing]);
    await stage.close();
  });
});

it.each(KINDS.filter((kind) => WITH_BLOCKERS.includes(kind)))(
  'a dry run of %s reads the blockers of an issue that would get a slot, not of those for which none is left',
  async (kind) => {
    const stage = await buildStage(kind, ground);
    const { states } = stage;
    for (const title of ['A', 'B', 'C', 'D', 'E']) await stage.add({ title, state: states.todo });
    await stage.add({ title: 'Last', state: states.doing });
    const agent = `kind: mock\nmax_concurrent_agents_by_state: { "${states.todo}": 1 }`;
    await ground.write('WORKFLOW.md', stageWorkflow(stage, { agent }));
    const { records } = await ground.run(['--dry-run', 'WORKFLOW.md'], { env: stage.env });
    const candidates = records.filter(({ msg }) => msg === 'dry run candidate');
    const started = candidates.filter((record) => record['would_dispatch'] === 'true').map((record) => record['state']);
    expect(started.sort()).toEqual([states.todo, states.doing].sort());
    await stage.close();
  },
);

describe('an explanation', () => {
  it('of issues of graphql with more labels than it tells says what the service says, of every one', async () => {
    const stage = await buildStage('graphql', ground);
    const labels = Array.from({ length: 26 }, (_, n) => `l${n}`);
    for (const title of ['A', 'B', 'C', 'D', 'E']) await stage.add({ title, state: stage.states.todo, labels });
    await ground.write('WORKFLOW.md', stageWorkflow(stage));
    const { stdout } = await ground.run(['explain', '--format', 'json', 'WORKFLOW.md'], { env: stage.env });
    const found = JSON.parse(stdout) as readonly { readonly reason: string; readonly remedy: string }[];
    expect(found.map(({ reason }) => reason)).toEqual(Array<string>(5).fill('blockers_unresolved'));
    expect(found[0]?.remedy).toContain('25');
    await stage.close();
  });

  it('of an issue of a file whose blockers are no list says what to mend, whether or not a slot is free', async () => {
    const stage = await buildStage('file', ground);
    const issues = [1, 2].map((n) => ({ id: `${n}`, identifier: `T-${n}`, title: 'A', state: stage.states.todo }));
    await ground.write('issues.json', JSON.stringify([issues[0], { ...issues[1], blocked_by: 'T-1' }]));
    await ground.write('WORKFLOW.md', stageWorkflow(stage, { agent: 'kind: mock\nmax_concurrent_agents: 1' }));
    const { stdout } = await ground.run(['explain', '--format', 'json', 'WORKFLOW.md'], { env: stage.env });
    expect(JSON.parse(stdout)).toMatchObject([
      { identifier: 'T-1', would_dispatch: true },
      { identifier: 'T-2', reason: 'blockers_unresolved', remedy: expect.stringContaining('blocked_by as a list') },
    ]);
    await stage.close();
  });

  it.each(KINDS.filter((kind) => WITH_BLOCKERS.includes(kind)))(
    'of one issue of %s knows its blockers, however many others wait for theirs to be read',
    async (kind) => {
      const stage = await buildStage(kind, ground);
      const { states } = stage;
      const others = [];
      for (const title of ['A', 'B', 'C', 'D', 'E']) others.push(await stage.add({ title, state: states.todo }));
      const last = await stage.add({ title: 'Last', state: states.todo, blockedBy: [others[0]!.id] });
      await ground.write('WORKFLOW.md', stageWorkflow(stage));
      const { code, stdout } = await ground.run(['explain', last.identifier, '--format', 'json', 'WORKFLOW.md'], {
        env: stage.env,
      });
      expect([code, JSON.parse(stdout)]).toMatchObject([1, [{ identifier: last.identifier, reason: 'blocked_by' }]]);
      await stage.close();
    },
  );
});
