import { announce, queueWrite, type Draft } from '../draft.ts';
import type { ReactionKind } from '../model/reaction.ts';
import type { ReactionProgress, Watch } from '../model/watch.ts';
import { progressOf, settingsOf, waitFor } from './progress.ts';

/** Asks for a person, once, in the configured way. Other kinds are not touched. */
export function escalate<Kind extends ReactionKind>(
  draft: Draft,
  watch: Watch,
  kind: Kind,
  why: string,
  changes: Partial<ReactionProgress<Kind>> = {},
): void {
  const settings = settingsOf(draft.state.settings.reactions, kind);
  if (!settings || progressOf(watch, kind).escalated) {
    waitFor(draft, watch, kind, personFor(why), changes);
    return;
  }
  const { issue } = watch;
  const id = `escalate:${issue.id}:${kind}:${watch.mergeRequest.number}:${draft.now}`;
  if (settings.escalation === 'label') queueWrite(draft, issue, id, { kind: 'label', label: settings.escalationLabel });
  if (settings.escalation === 'comment')
    queueWrite(draft, issue, id, { kind: 'comment', text: escalationText(watch, kind, why) });
  const asked = { at: draft.now, why, state: issue.state, runs: watch.facts.runs };
  waitFor(draft, watch, kind, personFor(why), { ...changes, escalated: true, asked });
  announce(draft, 'reaction:escalation:raised', { issue, kind, action: settings.escalation, why });
}

/** What a reaction waits for that asked for a person, with the reason where it is known. */
export function personFor(why: string | undefined): string {
  return why === undefined ? 'a person' : `a person: ${why}`;
}

function escalationText(watch: Watch, kind: ReactionKind, why: string): string {
  const { owner, repo, number } = watch.mergeRequest;
  return `Foray needs a person for merge request ${number} of ${owner}/${repo} (${kind}): ${why}`;
}
