import { chmod } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { openDelivery } from '../e2e/delivery-stage.ts';
import type { Matcher } from '../support/proxy.ts';
import { forgeEnv, FORGE_KINDS } from '../e2e/reactions/forge.ts';

/** Refuses the branches that the file `protected` names, in the words of a forge whose rule protects them. */
const PROTECTION = `#!/bin/sh
while read -r old new ref; do
  if grep -qsxF "$ref" protected; then echo "GH006: Protected branch update failed for $ref." >&2; exit 1; fi
done
`;

/** The agent's work. Where a file asks for it, somebody else pushes to the branch of the issue meanwhile, once. */
const WORK = `echo ours >> work
asked="../../somebody-$FORAY_ISSUE_IDENTIFIER"
test -e "$asked" || exit 0
file=$(cat "$asked") && rm "$asked"
git clone --quiet ../../origin.git "$asked-clone" && cd "$asked-clone"
echo theirs > "$file" && git add . && git commit --quiet -m Theirs
git push --quiet origin "HEAD:refs/heads/foray/$FORAY_ISSUE_IDENTIFIER"
`;

/** Every forge by `npm run test:faults`; what git says is the same for all of them. */
const FULL = process.env['FORAY_FAULTS'] === 'full';
const KINDS = FULL ? FORGE_KINDS : ['repoissues'];

describe.each(KINDS)('pushes that %s refuses', { timeout: 120_000 }, (kind) => {
  it('are told with their remedy, tried again or parked, and nothing is lost', async (test) => {
    const { ground, forge, origin, server, start, opened, close } = await openDelivery(kind);
    test.onTestFinished(close);
    await chmod(await ground.write('origin.git/hooks/pre-receive', PROTECTION), 0o755);
    const [shielded, diverged, conflicting] = ['One', 'Two', 'Three'].map(forge.addIssue) as [string, string, string];
    await ground.write('origin.git/protected', `refs/heads/foray/${shielded}\n`);
    await ground.write(`somebody-${diverged}`, 'their-file');
    await ground.write(`somebody-${conflicting}`, 'work');
    server.refusePushes(503, 1);
    // The first look for a request comes as rubbish, and is asked for again, which takes its time.
    const isLook: Matcher = ({ method, path }) => method === 'GET' && /\/(pulls|merge_requests)$/.test(path);
    if (FULL) void forge.front.spoilNext(isLook, () => '\u0000{');
    const daemon = await start(WORK);
    const isHandedOff = (id: string) => daemon.record('handoff transition succeeded, releasing claim', { issue_id: id });
    const parkedBecause = async (id: string) =>
      (await daemon.record('issue parked until a person acts', { issue_id: id }))['detail'];
    const goOn = async (id: string): Promise<void> => {
      expect(await ground.run(['unpark', id], { env: forgeEnv(forge) })).toMatchObject({ code: 0 });
      await isHandedOff(id);
    };
    // A session more than expected costs money: then the log tells why it began.
    test.onTestFailed(() => console.error(daemon.stderr()));
    const fileOf = (id: string) => origin.git('origin.git', 'show', `foray/${id}:work`);
    const historyOf = (id: string) => origin.git('origin.git', 'log', '--format=%s', `foray/${id}`);

    // By one session: what others pushed is brought in, and a server that is away for a moment is asked again.
    await isHandedOff(diverged);
    expect(await fileOf(diverged)).toBe('ours');
    expect(await historyOf(diverged)).toMatch(/^Theirs$/m);

    expect(await parkedBecause(shielded)).toMatch(/delivery: push: .*GH006.*allow pushes to foray\/\*/);
    expect(await parkedBecause(conflicting)).toMatch(/delivery: push: .*merge conflict.*git merge, commit, then unpark/);
    expect(opened()).toHaveLength(1);
    expect(await fileOf(conflicting)).toBe('theirs');

    await ground.write('origin.git/protected', '');
    await goOn(shielded);
    expect(await fileOf(shielded)).toBe('ours\nours');
    await origin.git(`ws/${conflicting}`, 'merge', '--quiet', '-X', 'ours', `origin/foray/${conflicting}`);
    await goOn(conflicting);
    expect(await fileOf(conflicting)).toBe('ours\nours');
    expect(await historyOf(conflicting)).toMatch(/^Theirs$/m);

    server.refusePushes(403);
    const forbidden = forge.addIssue('Four');
    expect(await parkedBecause(forbidden)).toMatch(/delivery: push: .*write access/);
    server.refusePushes(null);
    await goOn(forbidden);
    expect(await fileOf(forbidden)).toBe('ours\nours');
    expect(opened()).toHaveLength(4);
  });
});
