import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/daemon.ts';
import { FORGE_KINDS, reactionsOf } from './forge.ts';
import { openScene } from './scene.ts';
import { metricOf, requestsByRoute } from './told.ts';

/** Requests of one look at a merge request about which nothing is to be done, with all seven reactions on. */
const MOST: Readonly<Record<string, number>> = { nsproject: 12, repoissues: 12, selfhosted: 10 };

describe.each(FORGE_KINDS)('%s', { timeout: 60_000 }, (kind) => {
  it('an idle merge request costs a bounded number of requests a look, and none in between', async (test) => {
    const scene = await openScene(kind, test);
    const { forge } = scene;
    const reactions = reactionsOf(kind).replaceAll(/poll_interval_ms: \d+/g, 'poll_interval_ms: 400');
    const daemon = await scene.begin({ reactions, polling: 'interval_ms: 3600000' });
    forge.ci(forge.number(), 'green');
    await scene.waiting('ci_failure', 'the next push');
    const looks = async (): Promise<number> =>
      metricOf(await (await daemon.get('/metrics')).text(), 'svc_reaction_checks_total', { kind: 'merge_conflicts' });
    const next = async (before: number): Promise<number> => eventually(looks, (count) => count > before, 'the next look');

    // What is asked once in the life of the process is asked by now.
    const from = await next(await next(await looks()));
    const first = forge.front.requests.length;
    const to = await next(await next(from));
    const spent = forge.front.requests.slice(first);

    console.info(`${kind}, ${to - from} looks:\n${requestsByRoute(spent)}`);
    expect(spent.length / (to - from)).toBeLessThanOrEqual(MOST[kind] ?? 0);
    expect(spent.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/graphql'))).toEqual([]);
    expect((await daemon.stop()).code).toBe(0);
  });
});
