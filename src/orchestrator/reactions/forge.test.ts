import { describe, expect, it } from 'vitest';
import { ScmConflictError, TrackerError, type TrackerErrorKind } from '../../domain/model/errors.ts';
import type { CiProvider } from '../../ports/ci.ts';
import type { MergeStatus, ScmAdapter } from '../../ports/scm.ts';
import { deleteMergedBranch, mergeIfUnchanged } from './act.ts';
import { createForge } from './forge.ts';
import { whySelfUnknown } from '../../domain/reactions/progress.ts';

const signal = new AbortController().signal;
const REPO = { owner: 'acme', repo: 'app' };
const REQUEST = { ...REPO, number: 7, branch: 'feature', sha: 'aaa' };

/** A forge of which only what a test names can be asked. */
function forgeWith(scm: Partial<ScmAdapter>, clock = { now: () => 0 }) {
  return createForge(scm as ScmAdapter, {} as CiProvider, clock);
}

describe('what the forge says of the token', () => {
  it('is asked once per process, also when two requests are looked at together', async () => {
    let asked = 0;
    const forge = forgeWith({
      checkMergeScope: async () => {
        asked += 1;
        await new Promise((resolve) => setTimeout(resolve, 5));
        return { mayMerge: 'yes', detail: '' };
      },
      readOwnAccount: async () => `account ${(asked += 1)}`,
    });
    const both = await Promise.all([forge.checkScope(REPO, signal), forge.checkScope(REPO, signal)]);
    expect(both).toEqual([both[0], both[0]]);
    await forge.checkScope(REPO, signal);
    expect(asked).toBe(1);
    const [first, second] = await Promise.all([forge.readOwnAccount(signal), forge.readOwnAccount(signal)]);
    expect(first).toEqual(second);
    expect(asked).toBe(2);
  });

  it('names an account that was renamed within the hour', async () => {
    let [name, now] = ['foray', 0];
    const forge = forgeWith({ readOwnAccount: async () => name }, { now: () => now });
    expect(await forge.readOwnAccount(signal)).toEqual({ ok: true, value: 'foray' });
    name = 'foray-2';
    now = 3_599_999;
    expect(await forge.readOwnAccount(signal)).toEqual({ ok: true, value: 'foray' });
    now = 3_600_000;
    expect(await forge.readOwnAccount(signal)).toEqual({ ok: true, value: 'foray-2' });
  });

  it('is asked again after a failure that may heal, and never after a refusal', async () => {
    const faults = ['tracker_transport_error', 'tracker_auth_error'] as const;
    let asked = 0;
    const forge = forgeWith({
      readOwnAccount: async () => {
        const kind = faults[asked];
        asked += 1;
        throw new TrackerError({ kind: kind ?? 'tracker_api_error', method: 'GET', path: '/user', detail: 'no' });
      },
    });
    for (let calls = 0; calls < 4; calls += 1) expect((await forge.readOwnAccount(signal)).ok).toBe(false);
    expect(asked).toBe(2);
  });

  it('is asked again after the credential itself was not taken', async () => {
    let asked = 0;
    const forge = forgeWith({
      readOwnAccount: async () => {
        asked += 1;
        if (asked > 1) return 'foray';
        throw new TrackerError({ kind: 'tracker_auth_error', method: 'GET', path: '/user', detail: 'no', status: 401 });
      },
    });
    const first = await forge.readOwnAccount(signal);
    expect(whySelfUnknown(first)).toContain('GET /user');
    expect(await forge.readOwnAccount(signal)).toEqual({ ok: true, value: 'foray' });
  });
});

describe('a merge', () => {
  const REFUSED = new ScmConflictError('405');
  const ACCEPTED = new ScmConflictError('its state is "locked"', { isUnsure: true });
  const failed = (kind: TrackerErrorKind, status: number) =>
    new TrackerError({ kind, method: 'PUT', path: '/merge', detail: `status ${status}`, status });
  const CUT_OFF = failed('tracker_transport_error', 504);
  const OPEN = async () => ({ merged: false }) as MergeStatus;
  const MERGED = async () => ({ merged: true }) as MergeStatus;
  const AWAY = async () => {
    throw failed('tracker_transport_error', 502);
  };

  it.each<[string, Error, () => Promise<MergeStatus>, object]>([
    ['cut off and still open', CUT_OFF, OPEN, { kind: 'refused', unsure: true }],
    ['cut off and merged', CUT_OFF, MERGED, { kind: 'merged' }],
    ['cut off, and unreadable', CUT_OFF, AWAY, { kind: 'refused', unsure: true }],
    ['garbled and still open', failed('tracker_payload_error', 200), OPEN, { kind: 'refused', unsure: true }],
    ['forbidden and still open', failed('tracker_auth_error', 403), OPEN, { kind: 'refused', unsure: false }],
    ['taken and still open', ACCEPTED, OPEN, { kind: 'refused', unsure: true }],
    ['taken and merged', ACCEPTED, MERGED, { kind: 'merged' }],
    ['taken, and unreadable', ACCEPTED, AWAY, { kind: 'refused', unsure: true }],
    ['refused, which the adapter has read again', REFUSED, AWAY, { kind: 'refused', unsure: false }],
    ['refused, for the head moved on', new ScmConflictError('409', { headMoved: true }), AWAY, { kind: 'postponed' }],
    ['refused, and merged all the same', new ScmConflictError('405', { alreadyMerged: true }), AWAY, { kind: 'merged' }],
  ])('that is %s', async (_name, error, readMergeStatus, outcome) => {
    const merge = () => Promise.reject(error);
    const forge = forgeWith({ enqueue: async () => false, merge, readMergeStatus });
    const effect = { do: 'merge', issueId: '1', request: REQUEST, order: { strategy: 'squash', expectedSha: 'aaa' } } as const;
    expect(await mergeIfUnchanged(effect, forge, signal)).toMatchObject(outcome);
  });
});

describe('a branch of a merged request', () => {
  it('is deleted, but never the default branch of the project', async () => {
    const deleted: string[] = [];
    const forge = forgeWith({
      readDefaultBranch: async () => 'main',
      readBranchHead: async () => 'AAA',
      deleteBranch: async (_repo, branch) => void deleted.push(branch),
    });
    await deleteMergedBranch(REQUEST, 'aaa', forge, signal);
    const kept = await deleteMergedBranch({ ...REQUEST, branch: 'main' }, 'aaa', forge, signal);
    expect(kept).toMatchObject({ message: 'it is the default branch of the project' });
    const nameless = forgeWith({
      readDefaultBranch: async () => '',
      readBranchHead: async () => null,
      deleteBranch: async (_, branch) => void deleted.push(branch),
    });
    expect(await deleteMergedBranch(REQUEST, 'aaa', nameless, signal)).toBeNull();
    expect(deleted).toEqual(['feature', 'feature']);
  });

  it('is kept when somebody pushed to it, or made it anew, since the merge', async () => {
    const forge = forgeWith({
      readDefaultBranch: async () => 'main',
      readBranchHead: async () => 'bbb',
      deleteBranch: () => Promise.reject(new Error('it was deleted')),
    });
    const kept = await deleteMergedBranch(REQUEST, 'aaa', forge, signal);
    expect(kept).toMatchObject({ kind: 'scm_branch_kept', message: 'it is at bbb by now, and aaa was merged' });
  });

  it('is kept where the default branch cannot be read', async () => {
    const forge = forgeWith({ readDefaultBranch: () => Promise.reject(new Error('502')), deleteBranch: () => Promise.resolve() });
    await expect(deleteMergedBranch(REQUEST, 'aaa', forge, signal)).rejects.toThrow('502');
  });
});
