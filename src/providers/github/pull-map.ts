import type { Mergeability, MergeStatus } from '../../ports/scm.ts';
import type { WirePull } from './scm-schema.ts';

/** What the remote's one word for it means. Any other word is blocked, and reported. */
export const MERGEABLE_STATES: ReadonlyMap<string, Mergeability> = new Map([
  ['clean', 'clean'],
  ['has_hooks', 'clean'],
  ['dirty', 'dirty'],
  ['unstable', 'unstable'],
  ['blocked', 'blocked'],
  ['behind', 'blocked'],
  ['draft', 'blocked'],
  ['unknown', 'unknown'],
  ['', 'unknown'],
]);

export function toMergeStatus(pull: WirePull, mergeCommitSha: string): MergeStatus {
  const merged = isMerged(pull);
  return {
    mergeability: mergeabilityOf(pull),
    draft: pull.draft ?? false,
    merged,
    closed: pull.state.toLowerCase() === 'closed' && !merged,
    headSha: pull.head.sha,
    headBranch: pull.head.ref,
    baseBranch: pull.base.ref,
    mergeCommitSha: merged ? mergeCommitSha : '',
    labels: pull.labels.map((label) => label.toLowerCase()),
    url: pull.html_url,
  };
}

/** Nothing is clean while the remote still works out whether it can be merged, or says that it cannot. */
export function mergeabilityOf({ mergeable, mergeable_state }: WirePull): Mergeability {
  if (typeof mergeable !== 'boolean') return 'unknown';
  const said = MERGEABLE_STATES.get(mergeable_state.toLowerCase()) ?? 'blocked';
  return !mergeable && (said === 'clean' || said === 'unstable') ? 'unknown' : said;
}

export function isMerged({ merged, merged_at }: WirePull): boolean {
  return merged ?? merged_at !== '';
}
