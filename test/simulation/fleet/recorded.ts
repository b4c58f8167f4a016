import type { AskedName, Effect, EffectNamed } from '../../../src/domain/model/effect.ts';
import { mayHaveMerged } from '../../../src/domain/reactions/after-merge.ts';
import type { DurableModel } from '../durable-model.ts';

/** Whether the database holds what is about to be written: a leader that takes over finds it, and finishes it or knows of it. */
export function isRecorded(records: DurableModel, effect: Effect): boolean {
  const find = (RECORDS as Readonly<Record<string, (records: DurableModel, effect: Effect) => boolean>>)[effect.do];
  return find === undefined || find(records, effect);
}

/** The effects that change the world, each with its record. */
export type Written = Exclude<
  AskedName,
  'poll' | 'read-blockers' | 'go-on' | 'read-candidate' | 'read-issue' | 'read-terminal' | 'sweep' | 'inspect'
>;

export const RECORDS: { readonly [Name in Written]: (records: DurableModel, effect: EffectNamed<Name>) => boolean } = {
  'start-run': ({ claims }, { plan }) => {
    const claim = claims.get(plan.issue.id);
    return claim?.phase === 'running' && claim.runId === plan.runId;
  },
  'hand-off': ({ claims }, { issue, handoff }) => {
    const claim = claims.get(issue.id);
    return claim?.phase === 'handing-off' && claim.handoff.runId === handoff.runId;
  },
  'write-out': ({ outbox }, { entry }) => outbox.has(entry.id),
  merge: ({ watches }, { issueId, order }) => {
    const mark = watches.get(issueId)?.reactions.auto_merge?.mark;
    return mark !== undefined && mayHaveMerged(mark) && 'headSha' in mark && mark.headSha === order.expectedSha;
  },
  'delete-branch': ({ watches }, { issueId }) => watches.get(issueId)?.reactions.auto_merge?.mark.at === 'merged',
  'remove-label': ({ watches }, { issue, label }) => {
    const mark = watches.get(issue.id)?.reactions.label_commands?.mark;
    return mark?.at === 'read' && mark.toRemove === label;
  },
  complete: ({ watches }, { issue }) => watches.get(issue.id)?.reactions.merge_completion?.mark.at === 'begun',
  'remove-workspace': ({ claims }, { issueId }) => claims.get(issueId)?.phase !== 'running',
};
