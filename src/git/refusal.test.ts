import { expect, it } from 'vitest';
import { GitRefusal } from './refusal.ts';

it.each([
  [
    '! [remote rejected] foray/1 -> foray/1 (refusing to allow a Personal Access Token to create or update workflow `.github/workflows/ci.yml` without `workflow` scope)',
    'auth',
    false,
  ],
  [
    'remote: error: GH013: Repository rule violations found for refs/heads/foray/1.\n! [remote rejected] foray/1 -> foray/1 (push declined due to repository rule violations)',
    'protected',
    false,
  ],
  [
    'remote: error: GH006: Protected branch update failed\n! [remote rejected] foray/1 (protected branch hook declined)',
    'protected',
    false,
  ],
  [
    "error: cannot lock ref 'refs/heads/foray/1': 'refs/heads/foray' exists; cannot create 'refs/heads/foray/1'\n! [remote rejected] foray/1 -> foray/1 (failed to update ref)",
    'name_taken',
    false,
  ],
  ['! [remote rejected] foray/1 -> foray/1 (commits must be signed)', 'rejected', false],
  [
    "error: cannot lock ref 'refs/heads/foray/1': is at 1 but expected 2\n! [remote rejected] foray/1 (failed to update ref)",
    'other',
    true,
  ],
  ['! [remote rejected] 1a2b -> foray/TIME-1 (commits must be signed)', 'rejected', false],
  [
    'remote: GitLab: Internal API unreachable\n! [remote rejected] foray/1 -> foray/1 (pre-receive hook declined)',
    'network',
    true,
  ],
  ['! [remote rejected] foray/1 -> foray/1 (Internal Server Error)', 'other', true],
  [
    'error: RPC failed; HTTP 413 curl 22 The requested URL returned error: 413\nsend-pack: unexpected disconnect while reading sideband packet\nfatal: the remote end hung up unexpectedly',
    'too_large',
    false,
  ],
  ['! [rejected] foray/1 -> foray/1 (non-fast-forward)', 'diverged', true],
] as const)('%s', (said, refusal, retryable) => {
  expect(new GitRefusal('push', said)).toMatchObject({ refusal, retryable });
});
