import { ask, settle } from '../pending-effects.ts';
import { announce, type Draft } from '../draft.ts';
import type { EventNamed } from '../model/event.ts';
import { normalName } from '../model/issue.ts';
import type { LabelEvent, MergeStatus } from '../model/merge-request.ts';
import type { ReactionContext, ReactionKind } from '../model/reaction.ts';
import type { Watch } from '../model/watch.ts';
import { escalate } from './escalation.ts';
import {
  couldNotRead,
  isOwnAccount,
  isWorkedOn,
  progressOf,
  putProgress,
  reasonToWait,
  waitFor,
  waitLonger,
  whySelfUnknown,
} from './progress.ts';
import type { Declaration, Look, Reaction } from './reaction.ts';
import { queueTurn } from './turns.ts';

const declaration = {
  kind: 'label_commands',
  about: 'Let people start the agent by a label on the request.',
  defaults: { pollIntervalMs: 60_000, watchWindowMs: 0, budget: 3 },
  keys: {
    review_label: { type: 'text', default: 'foray:review', names: 'label', about: 'Label that asks for a review; empty: none.' },
    fix_label: { type: 'text', default: 'foray:fix', names: 'label', about: 'Label that asks for a fix; empty: none.' },
  },
  // How far the journal of label events was read: time, then id. `toRemove`: a label that was obeyed and is to be taken off.
  // `queued`: the turn for the command at `order` has not begun.
  marks: { read: { upTo: 'text', toRemove: 'text or absent' }, queued: { upTo: 'text', order: 'text', label: 'text' } },
  prompt: {
    variable: 'label_command',
    shape: {
      command: 'text',
      prNumber: 'number',
      owner: 'text',
      repo: 'text',
      branch: 'text',
      actor: 'text',
      // ISO 8601, as the forge gave it.
      requestedAt: 'text',
    },
    paragraph:
      'Somebody asked for more work on the merge request by a label. The facts as JSON data: {{ .label_command | toJSON }}.',
  },
} as const satisfies Declaration;

export const LABEL_COMMANDS: Reaction<typeof declaration> = {
  ...declaration,
  needs: () => ['labels', 'self'],
  judge: judgeLabels,
  renew: stillAskedFor,
  onTurnBegun: obey,
  onNewHead: (progress) => ({ ...progress, used: 0, escalated: false }),
  keepsMark: true,
};

type Command = 'review' | 'fix';
type Names = Readonly<Record<Command, string>>;

/**
 * Commands given by labelling the merge request. Read from the journal of label events, past a mark that only moves
 * forward and is stored together with the beginning of the run: a command runs at most once. It counts while its label is
 * still there, and the oldest comes first.
 */
function judgeLabels(draft: Draft, watch: Watch, { merge, findings: { labels, self } }: Look): void {
  const settings = draft.state.settings.reactions.on.label_commands;
  if (!settings || !labels) return;
  if (!labels.ok) return couldNotRead(draft, watch, 'label_commands', labels.fault);
  if (self?.ok === false && whySelfUnknown(self) !== null) return couldNotRead(draft, watch, 'label_commands', self.fault);
  const progress = progressOf(watch, 'label_commands');
  // What is queued is behind us only when it begins.
  if (progress.mark.at === 'queued' && isWorkedOn(draft, watch))
    return waitFor(draft, watch, 'label_commands', 'the run under way to end');
  const mark = progress.mark.at === 'none' ? JOURNAL_START : progress.mark.upTo;
  const toRemove = stillToRemove(draft, watch, merge, labels.value);
  const news = labels.value.filter((event) => (markOf(event) ?? '') > mark);
  const isPersons = (event: LabelEvent): boolean => !isOwnAccount(self, event.actor);
  const present = new Set(merge.labels.map(normalName));
  const names: Names = { review: normalName(settings.reviewLabel), fix: normalName(settings.fixLabel) };
  const stands = (event: LabelEvent): boolean => isOrder(names, event) && isPersons(event) && !isTakenBack(news, event);
  const order = news.find((event) => stands(event) && present.has(normalName(event.label)));
  const command = order ? commandOf(names, order.label) : null;
  announce(draft, 'reaction:check:completed', {
    issue: watch.issue,
    kind: 'label_commands',
    result: command ?? 'none',
    detail: '',
  });
  if (!order || !command) {
    // The label of one that stands was not there yet when the labels were read, a moment earlier: the next look shows it.
    const unsettled = news.findIndex(stands);
    const settled = unsettled === -1 ? news : news.slice(0, unsettled);
    return waitFor(draft, watch, 'label_commands', 'a label', { mark: readUpTo(markOf(settled.at(-1)) ?? mark, toRemove) });
  }
  const reason = reasonToWait(draft, watch);
  // The mark stays where it is, whatever begins the watch anew meanwhile.
  if (reason !== null) return waitFor(draft, watch, 'label_commands', reason, { mark: readUpTo(mark, toRemove) });
  // Whatever was asked for after it comes next.
  const queued = { at: 'queued', upTo: mark, order: markOf(order) ?? mark, label: order.label } as const;
  if (progress.used >= settings.budget) {
    const why = `the label ${order.label} came after ${progress.used} commands for ${merge.headSha.slice(0, 12)}`;
    return escalate(draft, watch, 'label_commands', why, { mark: takeOff(draft, watch, queued) });
  }
  const labelCommand = contextOf(watch, merge, command, order);
  queueTurn(draft, watch, 'label_commands', { labelCommand }, { ...progress, mark: queued });
}

/** What is left of a queued turn: nothing once its label came off. That of one that began is taken off by us. */
function stillAskedFor(
  _draft: Draft,
  watch: Watch,
  { merge, findings: { labels } }: Look,
  queued: ReactionContext,
): ReactionContext | 'unread' | null {
  const { mark } = progressOf(watch, 'label_commands');
  if (mark.at !== 'queued') return queued;
  if (!labels?.ok) return 'unread';
  const later = labels.value.filter((event) => (markOf(event) ?? '') > mark.order);
  const isOff = later.some(({ label, added }) => label === mark.label && !added);
  const isThere = merge.labels.some((label) => label.toLowerCase() === mark.label);
  return isOff || !isThere ? null : queued;
}

/** The turn begins: its command is behind us, and its label comes off. */
function obey(draft: Draft, watch: Watch, { labelCommand }: ReactionContext): void {
  const progress = progressOf(watch, 'label_commands');
  // Another try of a turn that began before.
  if (progress.mark.at !== 'queued') return;
  putProgress(draft, watch.issue.id, 'label_commands', { ...progress, mark: takeOff(draft, watch, progress.mark) });
  if (labelCommand?.command === 'fix') rearm(draft, watch.issue.id);
}

/** Has the label of a command taken off, as its receipt. */
function takeOff(draft: Draft, { issue, mergeRequest }: Watch, { order, label }: { order: string; label: string }) {
  ask(draft, { do: 'remove-label', issue, request: mergeRequest, label });
  return readUpTo(order, label);
}

function contextOf(
  { mergeRequest }: Watch,
  { headBranch }: MergeStatus,
  command: Command,
  order: LabelEvent,
): NonNullable<ReactionContext['labelCommand']> {
  const { owner, repo, number, branch } = mergeRequest;
  return { command, prNumber: number, owner, repo, branch: headBranch || branch, actor: order.actor, requestedAt: order.at };
}

/** The label was a command and is taken off as its receipt; when that fails the command still counts once. */
export function onLabelRemoved(draft: Draft, { issue, label, fault }: EventNamed<'label-removed'>): void {
  settle(draft, 'remove-label', `${issue.id} ${label}`);
  const watch = draft.state.watches.get(issue.id);
  const progress = watch?.reactions.label_commands;
  const isNoted = progress?.mark.at === 'read' && progress.mark.toRemove === label;
  // The next look has it taken off.
  if (watch && isNoted && fault?.isLimit)
    return waitLonger(draft, watch, 'label_commands', `another try to take the label ${label} off: ${fault.message}`, { fault });
  if (progress?.mark.at === 'read' && isNoted)
    putProgress(draft, issue.id, 'label_commands', { ...progress, mark: readUpTo(progress.mark.upTo) });
  if (fault !== null) announce(draft, 'reaction:label:kept', { issue, label, error: fault.message });
}

function readUpTo(upTo: string, toRemove?: string) {
  return toRemove === undefined ? ({ at: 'read', upTo } as const) : ({ at: 'read', upTo, toRemove } as const);
}

/**
 * A label that was obeyed and whose removal nobody answered for, since the service ended meanwhile: it is taken off now,
 * unless it is gone or a person set it again.
 */
function stillToRemove(draft: Draft, watch: Watch, { labels }: MergeStatus, journal: readonly LabelEvent[]): string | undefined {
  const { mark } = progressOf(watch, 'label_commands');
  if (mark.at !== 'read' || mark.toRemove === undefined) return undefined;
  const { toRemove, upTo } = mark;
  const isThere = labels.some((label) => normalName(label) === normalName(toRemove));
  const isSetAgain = journal.some((event) => event.label === toRemove && event.added && (markOf(event) ?? '') > upTo);
  if (!isThere || isSetAgain) return undefined;
  ask(draft, { do: 'remove-label', issue: watch.issue, request: watch.mergeRequest, label: toRemove });
  return toRemove;
}

/** Where the journal was read to: time, then id. */
function markOf(event: LabelEvent | undefined): string | undefined {
  return event === undefined ? undefined : `${new Date(Date.parse(event.at)).toISOString()}|${event.id.padStart(20, '0')}`;
}

/** Before any event: a command from before the watch, as while the first run went on, counts while its label is there. */
const JOURNAL_START = '';

/** The label came off again: a command that was given by it counts no longer, whoever set it anew. */
function isTakenBack(news: readonly LabelEvent[], event: LabelEvent): boolean {
  return news.slice(news.indexOf(event) + 1).some((later) => later.label === event.label && !later.added);
}

function isOrder(names: Names, { added, label }: LabelEvent): boolean {
  return added && commandOf(names, label) !== null;
}

function commandOf(names: Names, label: string): Command | null {
  const name = normalName(label);
  if (name === '') return null;
  if (name === names.fix) return 'fix';
  return name === names.review ? 'review' : null;
}

/** A person asked for a fix: what had given up may try again, as long as the budget of the commands lasts. */
function rearm(draft: Draft, issueId: string): void {
  for (const kind of [
    'ci_failure',
    'review_comments',
    'bot_review',
    'merge_conflicts',
  ] as const satisfies readonly ReactionKind[]) {
    const watch = draft.state.watches.get(issueId);
    const progress = watch?.reactions[kind];
    if (progress?.escalated) putProgress(draft, issueId, kind, { ...progress, used: 0, escalated: false, restored: true });
  }
}
