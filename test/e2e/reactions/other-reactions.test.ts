import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/daemon.ts';
import { FORGE_KINDS, reactionsOf } from './forge.ts';
import { openScene, type Scene } from './scene.ts';
import { mergeRequestOf, runEnded, runsBy } from './told.ts';

describe.each(FORGE_KINDS)('%s', { timeout: 60_000 }, (kind) => {
  it('bots, conflicts and labels each start one run, and CI that stays red asks a person once', async (test) => {
    const scene = await openScene(kind, test);
    const { forge, id } = scene;
    const daemon = await scene.begin({ reactions: reactionsOf(kind, { ci_failure: 'max_retries: 1' }) });

    forge.botReview(forge.number(), 'lint-bot', 'Unused variable.');
    await runEnded(daemon, 'bot_review');
    await scene.waiting('bot_review', 'a new comment');

    if (forge.conflict) {
      const working = forge.front.beforeNext(
        ({ path }) => path === '/-/work',
        () => forge.conflict?.(forge.number(), false),
      );
      forge.conflict(forge.number(), true);
      await working;
      await runEnded(daemon, 'merge_conflicts');
      await scene.waiting('merge_conflicts', 'a conflict');
    }

    forge.label(forge.number(), 'foray:fix');
    await runEnded(daemon, 'label_commands');
    await scene.waiting('label_commands', 'a label');
    expect(forge.labelsOf(forge.number())).not.toContain('foray:fix');

    forge.ci(forge.number(), 'red', 'one');
    await runEnded(daemon, 'ci_failure');
    await scene.waiting('ci_failure', 'CI to finish');
    forge.ci(forge.number(), 'red', 'two');
    await daemon.record('a person is needed for the merge request', { reaction: 'ci_failure', escalation: 'label' });
    await eventually(
      () => forge.issueOf(id).labels,
      (labels) => labels.includes('needs-human'),
      'the label',
    );
    await looks(scene, 3);

    expect(scene.told('a person is needed for the merge request')).toHaveLength(1);
    expect(await mergeRequestOf(daemon)).toMatchObject({
      reactions: expect.arrayContaining([
        expect.objectContaining({ kind: 'ci_failure', attempts_used: 1, escalated: true }),
        expect.objectContaining({ kind: 'bot_review', attempts_used: 1, escalated: false }),
      ]) as unknown,
    });
    for (const trigger of ['fresh', 'bot_review', 'label_commands', 'ci_failure']) {
      expect(await runsBy(daemon, trigger), trigger).toHaveLength(1);
    }
    expect(await runsBy(daemon, 'merge_conflicts')).toHaveLength(forge.conflict ? 1 : 0);
    expect(forge.merges()).toEqual([]);
    expect((await daemon.stop()).code).toBe(0);
  });

  it('says what it would merge in a dry run, and merges nothing', async (test) => {
    const scene = await openScene(kind, test);
    const { forge } = scene;
    const daemon = await scene.begin({ reactions: reactionsOf(kind, { auto_merge: 'dry_run: true, ci_grace_ms: 0' }) });
    forge.ci(forge.number(), 'green');
    forge.approve(forge.number());
    await daemon.record('merge request would be merged', { head_sha: forge.head(), strategy: 'squash' });
    await looks(scene, 2);
    expect(forge.merges()).toEqual([]);
  });
});

/** Until the daemon has looked so many times more. */
async function looks({ forge }: Scene, more: number): Promise<void> {
  const wanted = forge.front.requests.filter(forge.is.status).length + 2 * more;
  await eventually(
    () => forge.front.requests.filter(forge.is.status).length,
    (count) => count >= wanted,
    'further looks',
  );
}
