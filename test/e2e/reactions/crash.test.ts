import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/daemon.ts';
import { hang } from '../../support/http-server.ts';
import { FORGE_KINDS, forgeWorkflow, reactionsOf, type Forge } from './forge.ts';
import { openScene, type Scene } from './scene.ts';
import { runEnded, runsBy } from './told.ts';

/** What the core alone decides is the same for every forge. */
const KIND = 'nsproject';

describe('kill -9 around turns', { timeout: 60_000 }, () => {
  it('after a turn was queued: it runs, once', async (test) => {
    const scene = await openScene(KIND, test);
    const { forge } = scene;
    const first = await scene.begin();
    forge.ci(forge.number(), 'red');
    await first.record('reaction queued a turn', { reaction: 'ci_failure' });
    const second = await scene.kill();
    await runEnded(second, 'ci_failure');
    await scene.waiting('ci_failure', 'CI to finish');
    expect(await runsBy(second, 'ci_failure')).toHaveLength(1);
    expect(forge.front.requests.filter(({ path }) => path === '/-/work')).toHaveLength(2);
  });

  it('in a turn for a comment: the turn is taken up again, and no further one begins', async (test) => {
    const scene = await openScene(KIND, test);
    const { forge, ground } = scene;
    await scene.begin({ mock: 'outcomes: [completed, hang]' });
    forge.requestChanges(forge.number(), 'Please change this.');
    await eventually(
      () => scene.told('turn started'),
      (turns) => turns.length === 2,
      'the second turn',
    );
    await ground.write('WORKFLOW.md', forgeWorkflow(forge));
    const second = await scene.kill();
    await runEnded(second, 'review_comments');
    await scene.waiting('review_comments', 'a new comment');
    expect((await runsBy(second, 'review_comments')).map(({ status }) => status)).toEqual(['succeeded', 'interrupted']);
    expect(scene.told('reaction queued a turn')).toEqual([]);
  });

  it('after a person was asked by a comment, before the answer: nobody is asked twice', async (test) => {
    const scene = await openScene(KIND, test);
    const { forge } = scene;
    await scene.begin({ reactions: reactionsOf(KIND, { ci_failure: 'max_retries: 0, escalation: comment' }) });
    const lost = forge.front.loseNext(forge.is.comment);
    forge.ci(forge.number(), 'red');
    await lost;
    await scene.kill();
    await scene.waiting('ci_failure', /^a person: CI fails on /);
    await scene.daemon().stop();
    expect(scene.told('a person is needed for the merge request')).toEqual([]);
    expect(forge.issueOf(scene.id).comments).toHaveLength(1);
    expect(forge.front.requests.filter(forge.is.comment)).toHaveLength(1);
  });
});

describe.each(FORGE_KINDS)('%s, kill -9 around the merge', { timeout: 60_000 }, (kind) => {
  it('before the merge reached the forge: it is merged, once', async (test) => {
    const scene = await openScene(kind, test);
    const { forge } = scene;
    await scene.begin();
    const asked = forge.front.answerNext(forge.is.merge, hang());
    ready(forge);
    await asked;
    expect(forge.isMerged()).toBe(false);
    await scene.kill();
    await finished(scene);
    expect(forge.merges().map(forge.is.expectedHead)).toEqual([forge.head(), forge.head()]);
  });

  it('after the merge, before its answer: it is not asked for again, and the branch goes', async (test) => {
    const scene = await openScene(kind, test);
    const { forge } = scene;
    await scene.begin();
    const lost = forge.front.loseNext(forge.is.merge);
    ready(forge);
    await lost;
    expect(forge.isMerged()).toBe(true);
    await scene.kill();
    await finished(scene);
    expect(forge.merges()).toHaveLength(1);
  });

  it('before the branch was deleted: it still goes, and nothing is merged again', async (test) => {
    const scene = await openScene(kind, test);
    const { forge } = scene;
    await scene.begin();
    const asked = forge.front.answerNext(forge.is.branchDeletion, hang());
    ready(forge);
    await asked;
    expect(forge.branches()).toContain('foray/work');
    const second = await scene.kill();
    await second.record('branch deleted', { branch: 'foray/work' });
    await finished(scene);
    expect(forge.merges()).toHaveLength(1);
  });

  it('before the issue was closed: it is closed after the restart', async (test) => {
    const scene = await openScene(kind, test);
    const { forge } = scene;
    await scene.begin();
    const asked = forge.front.answerNext(forge.is.completion, hang());
    ready(forge);
    await asked;
    expect(forge.branches()).not.toContain('foray/work');
    expect(forge.issueOf(scene.id).state).not.toBe('closed');
    await scene.kill();
    await finished(scene);
    expect(forge.merges()).toHaveLength(1);
  });
});

function ready(forge: Forge): void {
  forge.ci(forge.number(), 'green');
  forge.approve(forge.number());
}

/** All that belongs to a merge was done. */
async function finished({ forge, id, daemon, told }: Scene): Promise<void> {
  await daemon().record('merge request no longer watched');
  expect(forge.isMerged()).toBe(true);
  expect(forge.branches()).not.toContain('foray/work');
  expect(forge.issueOf(id)).toMatchObject({ state: 'closed', labels: ['done'] });
  expect(told('an effect failed unexpectedly')).toEqual([]);
}
