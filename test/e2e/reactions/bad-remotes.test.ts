import { describe, expect, it } from 'vitest';
import { json, text } from '../../support/http-server.ts';
import { eventually } from '../../support/daemon.ts';
import { FORGE_KINDS, type Forge } from './forge.ts';
import { openScene, type Scene } from './scene.ts';
import { metricOf } from './told.ts';

const NOT_FOUND = json({ message: '404 Not Found' }, 404);

describe.each(FORGE_KINDS)('%s', { timeout: 60_000 }, (kind) => {
  it('lives through reads that are not found, a push and a merge that come in between', async (test) => {
    const scene = await openScene(kind, test);
    const { forge } = scene;
    const daemon = await scene.begin();
    const first = forge.head();

    const stop = forge.front.answerAll((request) => forge.is.ci(request) || forge.is.reviews(request), NOT_FOUND);
    ready(forge);
    for (const reaction of ['ci_failure', 'review_comments', 'auto_merge'])
      await scene.waiting(reaction, /^a readable answer: .*404/);
    expect(forge.merges()).toEqual([]);

    // Somebody pushes after the last look: the merge of what was judged fails, and the new head is judged by itself.
    const second = 'f'.repeat(40);
    const raced = forge.front.beforeNext(forge.is.merge, () => {
      forge.push(forge.number(), second);
      forge.settle(forge.number());
    });
    stop();
    await raced;
    const outrun = await daemon.record('merge postponed by the forge', { head_sha: first });
    expect(outrun['reason']).toContain('scm_conflict_error');
    expect(forge.isMerged()).toBe(false);
    await scene.waiting('ci_failure', 'CI to finish');

    // Somebody merges after the last look: what we asked for is refused and done, and counts as ours.
    const overtaken = forge.front.beforeNext(forge.is.merge, () => forge.mergeByHand(forge.number()));
    forge.ci(forge.number(), 'green');
    await overtaken;
    await daemon.record('merge request merged', { by_us: 'true', head_sha: second });
    await finished(scene);
    expect(new Set(forge.merges().map(forge.is.expectedHead))).toEqual(new Set([first, second]));
    const metrics = await (await daemon.get('/metrics')).text();
    expect(metricOf(metrics, 'svc_merges_total', { result: 'success' })).toBe(1);
    expect(metricOf(metrics, 'svc_merges_total', { result: 'error' })).toBe(0);
  });

  it('asks a person once when merges are refused, tries again when told to, and lets a branch be', async (test) => {
    const scene = await openScene(kind, test);
    const { forge, id } = scene;
    const daemon = await scene.begin();
    const needed = (times: number) =>
      eventually(
        () => scene.told('a person is needed for the merge request'),
        (told) => told.length >= times,
        'the call for a person',
      );

    // A credential that may not merge: at once.
    void forge.front.answerNext(forge.is.merge, json({ message: '403 Forbidden' }, 403));
    ready(forge);
    await needed(1);
    expect(scene.told('merge refused')).toHaveLength(1);
    await eventually(
      () => forge.issueOf(id).labels,
      (labels) => labels.includes('needs-human'),
      'the label',
    );
    await scene.waiting('auto_merge', /^a person/);
    expect(await daemon.json('/api/v2/parked')).toMatchObject({ parked: [{ issue_id: id, reason: 'escalated' }] });

    // Refused for no good reason: a first time, and as often again as the budget has it.
    const stop = forge.front.answerAll(forge.is.merge, json({ message: '405 Method Not Allowed' }, 405));
    await scene.unpark();
    await needed(2);
    expect(scene.told('merge refused')).toHaveLength(4);
    stop();
    expect(forge.isMerged()).toBe(false);

    void forge.front.answerNext(forge.is.branchDeletion, text('<html>Bad Gateway</html>', 502));
    await scene.unpark();
    await daemon.record('branch could not be deleted', { branch: 'foray/work' });
    await daemon.record('issue completed after its merge');
    expect(forge.issueOf(id).state).toBe('closed');
    expect(forge.branches()).toContain('foray/work');
    expect(scene.told('a person is needed for the merge request')).toHaveLength(2);
    expect(scene.told('merge request merged')).toHaveLength(1);
  });

  it('takes a branch that is gone for deleted, and ends when the issue is gone', async (test) => {
    const scene = await openScene(kind, test);
    const { forge } = scene;
    const daemon = await scene.begin();
    void forge.front.answerNext(forge.is.branchDeletion, NOT_FOUND);
    const stop = forge.front.answerAll((request) => forge.is.issue(request) && request.method !== 'GET', NOT_FOUND);
    ready(forge);
    await daemon.record('branch deleted', { branch: 'foray/work' });
    await daemon.record('merge request no longer watched', { reason: 'the tracker no longer has the issue' });
    stop();
    expect(forge.isMerged()).toBe(true);
    expect(forge.merges()).toHaveLength(1);
  });
});

function ready(forge: Forge): void {
  forge.ci(forge.number(), 'green');
  forge.approve(forge.number());
}

async function finished({ forge, id, daemon }: Scene): Promise<void> {
  await daemon().record('merge request no longer watched', { reason: 'merged and completed' });
  expect(forge.isMerged()).toBe(true);
  expect(forge.branches()).not.toContain('foray/work');
  expect(forge.issueOf(id)).toMatchObject({ state: 'closed', labels: ['done'] });
}
