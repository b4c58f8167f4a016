import { describe, expect, it } from 'vitest';
import { openDelivery } from '../e2e/delivery-stage.ts';
import { forgeEnv, FORGE_KINDS } from '../e2e/reactions/forge.ts';
import { startChaos } from './chaos-proxy.ts';
import { patiently } from './patiently.ts';

/** By `npm run test:faults` only. */
const FULL = process.env['FORAY_FAULTS'] === 'full';
const SEED = Number(process.env['FORAY_FAULTS_SEED'] ?? 20_260_101);
/** So often the checks fail before the work is good. */
const MENDS = 10;
const SPOILED = 0.2;

const often = (kind: string, more: string): string => `{ provider: ${kind}, poll_interval_ms: 200, ${more} }`;

describe.runIf(FULL).each(FORGE_KINDS)('%s and its git server behind a network that spoils answers', (kind) => {
  it(`one request, ${MENDS} mended heads, one merge (seed ${SEED})`, { timeout: 900_000 }, async (test) => {
    const { ground, forge, origin, server, write, close } = await openDelivery(kind, { patienceMs: 300_000 });
    test.onTestFinished(close);
    // What a forge says of whose a request is counts for good, so no other word is put in its mouth.
    const api = await startChaos(forge.front.url, { seed: SEED, never: ['garble'] });
    const git = await startChaos(server.origin, { seed: SEED + 1 });
    test.onTestFinished(async () => {
      await api.close();
      await git.close();
    });
    const id = forge.addIssue('Add a page');
    await write('echo work >> work', {
      agent: 'kind: mock\nmax_turns: 1\nmax_retry_backoff_ms: 500',
      reactions: [
        `ci_failure: ${often(kind, `max_retries: ${MENDS * 10}`)}`,
        `auto_merge: ${often(kind, 'strategy: squash, ci_grace_ms: 0, max_retries: 50')}`,
        `merge_completion: ${often(kind, 'target_state: done')}`,
      ].join('\n'),
    });
    const workflow = (await ground.read('WORKFLOW.md')).replaceAll(forge.front.url, api.url);
    await ground.write('WORKFLOW.md', workflow.replaceAll(server.origin, git.url));
    for (const proxy of [api, git]) proxy.spoil(SPOILED);
    const daemon = await ground.start(['--port', '0'], { env: forgeEnv(forge) });
    await daemon.record('merge request watched', { issue_id: id });
    for (let count = 0; count < MENDS; count += 1) {
      const red = forge.head();
      forge.ci(forge.number(), 'red');
      await patiently(daemon, () => forge.head() !== red, `mended head ${count + 1}`);
    }
    let judged = '';
    await patiently(
      daemon,
      () => {
        // A run that failed after its push leads to another head, which people look at anew.
        if (forge.isMerged() || forge.head() === judged) return forge.isMerged();
        judged = forge.head();
        forge.ci(forge.number(), 'green');
        forge.approve(forge.number());
        forge.settle(forge.number());
        return false;
      },
      'the merge',
    );
    for (const proxy of [api, git]) proxy.calm();
    await patiently(daemon, () => /done|closed/.test(forge.issueOf(id).state), 'the completion');
    // Where an answer is lost or says something else it is asked for again: what counts is what came of it.
    const carriedOut = (pattern: RegExp) => api.written.filter(({ path, status }) => status < 300 && pattern.test(path));
    expect(carriedOut(/\/(?:pulls|merge_requests)$/)).toHaveLength(1);
    expect(carriedOut(/\/merge$/)).toHaveLength(1);
    const lines = (await origin.git('origin.git', 'show', `foray/${id}:work`)).split('\n');
    expect(lines.length).toBeGreaterThan(MENDS);
    expect((await daemon.stop()).code).toBe(0);
    console.log(`${kind}: requests spoiled ${JSON.stringify(api.done)}, git ${JSON.stringify(git.done)}, ${lines.length} runs`);
  });
});
