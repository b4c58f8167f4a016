import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/daemon.ts';
import { FORGE_KINDS, reactionsOf } from './forge.ts';
import { openScene } from './scene.ts';
import { requestsByRoute } from './told.ts';

/** Requests of one look at a merge request about which nothing is to be done, with all seven reactions on. */
const MOST: Readonly<Record<string, number>> = { nsproject: 10, repoissues: 12, selfhosted: 10 };
const LOOKS = 3;

describe.each(FORGE_KINDS)('%s', { timeout: 60_000 }, (kind) => {
  it('an idle merge request costs a bounded number of requests a look, and none in between', async (test) => {
    const scene = await openScene(kind, test);
    const { forge } = scene;
    const reactions = reactionsOf(kind).replaceAll(/poll_interval_ms: \d+/g, 'poll_interval_ms: 400');
    const daemon = await scene.begin({ reactions, polling: 'interval_ms: 3600000' });
    forge.ci(forge.number(), 'green');
    await scene.waiting('ci_failure', 'the next push');

    // From the beginning of one look to that of a later one; what is asked once in a process is asked by then.
    const { requests } = forge.front;
    const begins = (): number[] => requests.flatMap((request, at) => (forge.is.lookup(request) ? [at] : []));
    const from = begins().length;
    const all = await eventually(begins, (found) => found.length > from + LOOKS, 'some looks');
    expect((await daemon.stop()).code).toBe(0);
    const spent = requests.slice(all[from], all[from + LOOKS]);

    console.info(`${kind}, ${LOOKS} looks:\n${requestsByRoute(spent)}`);
    // A look reads the issue and the request at the same time, so that one of them may fall on either side of the cut.
    expect(spent.length).toBeLessThanOrEqual(LOOKS * (MOST[kind] ?? 0) + 1);
    expect(spent.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/graphql'))).toEqual([]);
  });
});
