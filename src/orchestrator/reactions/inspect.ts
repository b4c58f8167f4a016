import type { Effect } from '../../domain/model/effect.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import type { Answer } from '../../domain/model/fault.ts';
import type { MergeStatus } from '../../domain/model/merge-request.ts';
import type { Findings, Need } from '../../domain/model/findings.ts';
import { whyNotOurs } from '../../domain/reactions/managed.ts';
import { whySelfUnknown } from '../../domain/reactions/progress.ts';
import type { Tracker } from '../../ports/tracker.ts';
import { answer } from '../answer.ts';
import type { Forge } from './forge.ts';

type Inspect = Extract<Effect, { do: 'inspect' }>;

/** One look at a merge request. Its status comes first: whatever is pushed after that makes a merge fail. */
export async function inspect(effect: Inspect, tracker: Tracker, forge: Forge, signal: AbortSignal): Promise<Findings> {
  const { watch, needs } = effect;
  const closed = new Set<string>();
  const [issueState, merge] = await Promise.all([
    answer(readState(tracker, watch.issue.id, closed, signal)),
    answer(readMerge(forge, effect, signal)),
  ]);
  if (closed.size > 0) return { issueState, merge, issueClosed: { ok: true, value: true } };
  if (!merge.ok || merge.value === null || merge.value.merged || merge.value.closed) return { issueState, merge };
  const status = merge.value;
  // Nothing is read of a request that is not ours.
  if (whyNotOurs(effect.settings.reactions, watch.mergeRequest, status) !== null) return { issueState, merge };
  const read = await Promise.all(needs.map(async (need) => [need, await READERS[need](effect, forge, status, signal)] as const));
  return { issueState, merge, ...(Object.fromEntries(read) as Partial<Findings>) };
}

type Reader = (effect: Inspect, forge: Forge, status: MergeStatus, signal: AbortSignal) => Promise<Answer<unknown>>;

/** How each need is read. */
const READERS: Readonly<Record<Need, Reader>> = {
  decision: async ({ watch, settings }, forge, _status, signal) => {
    const self = await forge.readOwnAccount(signal);
    if (!self.ok && whySelfUnknown(self) !== null) return self;
    const own = self.ok ? self.value : '';
    return answer(forge.scm.readReviewDecision(watch.mergeRequest, settings.reactions.votes, signal, own));
  },
  ciStatus: (effect, forge, _status, signal) => answer(forge.scm.readCiStatus(effect.watch.mergeRequest, signal)),
  ci: ({ watch, settings }, forge, status, signal) => {
    const { owner, repo } = watch.mergeRequest;
    const maxLogLines = settings.reactions.on.ci_failure?.maxLogLines ?? 0;
    return answer(forge.ci.readCi({ owner, repo, projectId: status.projectId, ref: status.headSha, maxLogLines }, signal));
  },
  reviews: ({ watch, settings }, forge, _status, signal) => {
    const { trust = settings.reactions.votes } = settings.reactions.on.review_comments ?? {};
    return answer(forge.scm.readPendingReviews(watch.mergeRequest, trust, signal));
  },
  botReviews: ({ watch, settings }, forge, _status, signal) =>
    answer(forge.scm.readBotReviewComments(watch.mergeRequest, settings.reactions.on.bot_review?.botUsernames ?? [], signal)),
  labels: (effect, forge, _status, signal) => answer(forge.scm.readLabelEvents(effect.watch.mergeRequest, signal)),
  scope: (effect, forge, _status, signal) => forge.checkScope(effect.watch.mergeRequest, signal),
  queue: (effect, forge, _status, signal) => answer(forge.scm.isQueued(effect.watch.mergeRequest, signal)),
  self: (_effect, forge, _status, signal) => forge.readOwnAccount(signal),
};

async function readState(tracker: Tracker, id: string, closed: Set<string>, signal: AbortSignal): Promise<string | null> {
  return (await tracker.fetchIssueStatesByIds([id], signal, closed)).get(id) ?? null;
}

async function readMerge(forge: Forge, effect: Inspect, signal: AbortSignal): Promise<MergeStatus | null> {
  try {
    return await forge.scm.readMergeStatus(effect.watch.mergeRequest, signal);
  } catch (error) {
    if (error instanceof TrackerError && error.kind === 'tracker_not_found') return null;
    throw error;
  }
}
