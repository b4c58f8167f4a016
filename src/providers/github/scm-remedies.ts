import type { Remedy } from './client.ts';

const CLASSIC = 'a classic token the scope repo';

/** What an operator can do about an answer of the merge-request side. The first that fits is shown. */
export const SCM_REMEDIES: readonly Remedy[] = [
  { status: 401, where: /./, remedy: 'the token is wrong, expired or revoked: check repoissues.api_key or tracker.api_key' },
  {
    status: 403,
    where: /\/merge$/,
    remedy: `merging needs the permissions contents:write and pull_requests:write, ${CLASSIC}, and a branch rule may forbid it`,
    always: true,
  },
  {
    status: 403,
    where: /\/git\/refs\//,
    remedy: `deleting a branch needs the permission contents:write, ${CLASSIC}`,
    always: true,
  },
  { status: 403, where: /\/labels\//, remedy: `removing a label needs the permission pull_requests:write, ${CLASSIC}` },
  { status: 403, where: /\/check-runs$/, remedy: `reading check runs needs the permission checks:read, ${CLASSIC}` },
  { status: 403, where: /\/status$/, remedy: `reading commit statuses needs the permission statuses:read, ${CLASSIC}` },
  { status: 403, where: /\/actions\//, remedy: `reading job logs needs the permission actions:read, ${CLASSIC}` },
  { status: 403, where: /./, remedy: `reading pull requests needs the permission pull_requests:read, ${CLASSIC}` },
  { status: 404, where: /\/pulls\/\d+(\/|$)/, remedy: 'there is no such pull request, or the token may not see it' },
  { status: 422, where: /\/commits\//, remedy: 'the repository has no such commit or branch' },
];
