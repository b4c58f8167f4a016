import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FORGE_KINDS } from './forge.ts';
import { createOrigin } from './origin.ts';
import { asUsersDo } from './users.ts';
import { openScene } from './scene.ts';
import { mergeRequestOf, metricOf, requestsByRoute, runEnded, waitsOf } from './told.ts';

/** What a healthy life of a merge request does not have. */
const UNWANTED = /hook failed|ignored|refused|unexpected|listener|could not/;

describe.each(FORGE_KINDS)('%s', (kind) => {
  it(
    'from the issue over red CI and a review to the merge, by the scripts that users are given',
    { timeout: 60_000 },
    async (test) => {
      const scene = await openScene(kind, test);
      const { forge, ground, id } = scene;
      const origin = await createOrigin(ground, forge.front.url);
      const user = await asUsersDo(forge, ground, origin);
      const daemon = await scene.begin({ hooks: user.hooks, agent: user.agent }, user.body);

      const heads = [forge.head()];
      expect(await origin.git('origin.git', 'rev-parse', 'foray/1')).toBe(heads[0]);
      await scene.waiting('ci_failure', 'CI to finish');
      expect(forge.issueOf(id).labels).toContain(forge.handoff);

      forge.ci(forge.number(), 'red', 'the rocket exploded');
      await runEnded(daemon, 'ci_failure');
      heads.push(forge.head());
      await scene.waiting('ci_failure', 'CI to finish');
      forge.ci(forge.number(), 'green');
      await scene.waiting('ci_failure', 'the next push');

      forge.requestChanges(forge.number(), 'Please name it better.');
      await runEnded(daemon, 'review_comments');
      heads.push(forge.head());
      forge.ci(forge.number(), 'green');
      await scene.waiting('ci_failure', 'the next push');
      await scene.waiting('review_comments', 'a new comment');
      expect(await mergeRequestOf(daemon)).toMatchObject({
        number: forge.number(),
        branch: 'foray/1',
        head_sha: heads[2],
        last_look: { review_decision: 'CHANGES_REQUESTED', ci_status: 'success', merged: false },
      });
      expect(forge.merges()).toEqual([]);

      forge.approve(forge.number());
      await daemon.record('merge request merged', { by_us: 'true', head_sha: heads[2] ?? '' });
      await daemon.record('branch deleted', { branch: 'foray/1' });
      await daemon.record('issue completed after its merge', { target_state: 'done' });
      await daemon.record('workspace removed');

      expect(new Set(heads).size).toBe(3);
      expect(forge.isMerged()).toBe(true);
      expect(forge.merges().map(forge.is.expectedHead)).toEqual([heads[2]]);
      expect(forge.branches()).not.toContain('foray/1');
      expect(forge.issueOf(id)).toMatchObject({ state: 'closed', labels: ['done'] });
      expect(existsSync(ground.path('ws', '1'))).toBe(false);
      expect(await waitsOf(daemon)).toEqual({});

      const { runs } = (await daemon.json('/api/v2/runs')) as { runs: Record<string, unknown>[] };
      expect(runs.map((run) => [run['trigger'], run['status']]).toReversed()).toEqual([
        ['fresh', 'succeeded'],
        ['ci_failure', 'succeeded'],
        ['review_comments', 'succeeded'],
      ]);
      const [first, afterCi, afterReview, ...further] = await user.prompts();
      expect(further).toEqual([]);
      expect(first).toContain('Title: "Fix the \\"rocket\\" & go"');
      expect(first).not.toContain('You have worked on this before');
      expect(afterCi).toContain(`CI now fails on ${heads[0]}`);
      expect(afterCi).toContain('the rocket exploded');
      expect(afterReview).toContain('- rita: "Please name it better."');
      const metrics = await (await daemon.get('/metrics')).text();
      expect(metricOf(metrics, 'svc_merges_total', { result: 'success' })).toBe(1);
      expect(metricOf(metrics, 'svc_merges_total', { result: 'error' })).toBe(0);
      expect(metricOf(metrics, 'svc_reaction_turns_total', { kind: 'ci_failure' })).toBe(1);
      expect(metricOf(metrics, 'svc_reaction_turns_total', { kind: 'review_comments' })).toBe(1);
      expect(metricOf(metrics, 'svc_merge_requests_watched', {})).toBe(0);

      const { code, stderr, records } = await daemon.stop();
      expect(code).toBe(0);
      expect(stderr).not.toContain(forge.token);
      expect(records.filter(({ level, msg = '' }) => level === 'ERROR' || UNWANTED.test(msg))).toEqual([]);
      console.info(`${kind}, the requests of one merge request's whole life:\n${requestsByRoute(forge.front.requests)}`);
    },
  );
});
