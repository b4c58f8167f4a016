import { sameState } from '../model/issue.ts';
import { EDIT_WAITS, IF_SILENT, remedyFor } from '../model/remedies.ts';
import type { Notice } from '../model/notice.ts';
import type { ProblemFacts } from '../model/problem.ts';

/** Something that happened to an issue. */
export interface JournalEntry {
  readonly at: number;
  readonly text: string;
  readonly tone: Tone;
  /** Null where it tells nothing of that. */
  readonly given: GivenState | null;
}

/** What became of the state of an issue; null where it was not handed off. */
export interface GivenState {
  readonly state: string | null;
}

export const TONES = ['good', 'bad', 'warn', 'plain'] as const;
export type Tone = (typeof TONES)[number];

/** The issue that a notice is about and what it says of it; null for what runs tell themselves and for what comes too often. */
export function journalEntryOf(notice: Notice): (Omit<JournalEntry, 'at'> & { readonly identifier: string }) | null {
  const identifier = identifierOf(notice);
  const said = identifier === null ? null : saidOf(notice);
  if (identifier === null || said === null) return null;
  const [tone, text, given = null] = said;
  return { identifier, tone, text, given };
}

function identifierOf({ facts }: Notice): string | null {
  if ('issue' in facts) return facts.issue.identifier;
  return 'request' in facts && 'identifier' in facts.request ? facts.request.identifier : null;
}

/**
 * The state that an issue was given since a moment, by the last that was said of it; null where it was not handed off,
 * undefined where nothing was said.
 */
export function stateGivenSince(journal: readonly JournalEntry[], since: number): string | null | undefined {
  return journal.findLast(({ at, given }) => at >= since && given !== null)?.given?.state;
}

type Said = readonly [tone: Tone, text: string, given?: GivenState];

function saidOf({ name, facts }: Notice): Said | null {
  switch (name) {
    case 'handoff:transition:succeeded':
      return ['good', `handed off to ${facts.state}`, { state: facts.state }];
    case 'handoff:transition:refused':
    case 'handoff:transition:failed':
      return ['bad', `handoff to ${facts.state} failed: ${facts.error}`];
    case 'handoff:transition:skipped':
      return sameState(facts.issue.state, facts.state)
        ? ['good', `handed off to ${facts.state} by somebody else`, { state: facts.state }]
        : ['plain', `not handed off: ${facts.reason}`, { state: null }];
    case 'issue:park:entered':
      return ['warn', `parked (${words(facts.reason)}): ${facts.detail}`];
    case 'issue:park:released':
      return ['plain', `released: ${facts.reason}`];
    case 'retry:entry:scheduled':
      return ['warn', `to be tried again: ${facts.error}`];
    case 'reaction:watch:armed':
      return ['plain', `merge request ${facts.owner}/${facts.repo} #${facts.number} is watched`];
    case 'reaction:request:refused':
      return ['warn', `merge request ${facts.owner}/${facts.repo} #${facts.number} is not this issue's: ${facts.why}`];
    case 'reaction:request:closed':
      return ['plain', `merge request ${facts.owner}/${facts.repo} #${facts.number} was closed`];
    case 'reaction:issue:closed':
      return ['plain', `the issue was closed: merge request ${facts.owner}/${facts.repo} #${facts.number} waits`];
    case 'reaction:issue:gone':
      return ['warn', `the tracker no longer has the issue: merge request ${facts.owner}/${facts.repo} #${facts.number} waits`];
    case 'reaction:watch:ended':
      return ['plain', `merge request is no longer watched: ${facts.why}`];
    case 'reaction:turn:queued':
      return ['plain', `a turn for ${words(facts.kind)} is queued`];
    case 'reaction:escalation:raised':
      return ['warn', `${words(facts.kind)} asks for a person: ${facts.why}`];
    case 'reaction:merge:succeeded':
      return ['good', `merge request #${facts.number} was merged${facts.byUs ? ' by foray' : ''}`];
    case 'reaction:merge:failed':
      return ['bad', `merging #${facts.number} failed: ${facts.error}`];
    case 'reaction:completion:succeeded':
      return ['good', `moved to ${facts.state}`, { state: facts.state }];
    case 'operator:request:answered':
      return ['plain', `${facts.by} asked to ${facts.request.kind}: ${facts.answer.message}`];
    default:
      return null;
  }
}

function words(name: string): string {
  return name.replaceAll('_', ' ');
}

/** What keeps the whole service back, or no longer does; null for a notice that tells of neither. */
export function troubleOf({ name, facts }: Notice, at: number): ToldTrouble | null {
  switch (name) {
    case 'poll:tick:failed':
      return {
        what: 'tracker',
        text: [facts.error, remedyFor(facts.kind, facts.error) ?? []].flat().join('; '),
        nextTryAt: facts.waitsUntil ?? null,
      };
    case 'tracker:answer:awaited':
      return { what: 'tracker', text: `the tracker has not answered yet; ${IF_SILENT}`, isSilence: true };
    case 'tracker:start:failed':
    case 'tracker:start:postponed': {
      const text = [facts.error, remedyFor(facts.kind, facts.error) ?? []].flat().join('; ');
      return { what: 'tracker', text, nextTryAt: at + facts.retryInMs };
    }
    case 'poll:tick:completed':
      return { what: 'tracker', text: null };
    case 'poll:tick:postponed':
      return { what: 'tracker_quota', text: facts.reason, nextTryAt: facts.until };
    case 'poll:tick:resumed':
      return { what: 'tracker_quota', text: null };
    case 'poll:preflight:failed':
      return { what: 'preflight', text: facts.problem };
    case 'poll:preflight:passed':
      return { what: 'preflight', text: null };
    case 'workflow:file:awaited':
      return { what: 'workflow', text: EDIT_WAITS };
    case 'workflow:file:rejected':
      return { what: 'workflow', text: `the last edit is rejected: ${facts.problems.join(' | ')}`, place: placeOf(facts.faults) };
    case 'workflow:file:reloaded':
      return { what: 'workflow', text: null };
    case 'daemon:drain:started':
      return { what: 'stopping', text: 'the service is stopping: sessions that run are ended' };
    default:
      return null;
  }
}

/** What keeps the whole service back; without a text it no longer does. */
interface ToldTrouble {
  readonly what: TroubleKind;
  readonly text: string | null;
  /** Where it is in the workflow file, of what is wrong with that file. */
  readonly place?: TroublePlace | null;
  /** Of what is tried again at a moment that is known. */
  readonly nextTryAt?: number | null;
  /** Nothing was said, so that whatever is known already tells more. */
  readonly isSilence?: boolean;
}

export type TroublePlace = Pick<ProblemFacts, 'file' | 'line' | 'column'>;

function placeOf([first]: readonly ProblemFacts[]): TroublePlace | null {
  return first === undefined ? null : { file: first.file, line: first.line, column: first.column };
}

export const TROUBLE_KINDS = ['tracker', 'tracker_quota', 'preflight', 'workflow', 'stopping'] as const;
export type TroubleKind = (typeof TROUBLE_KINDS)[number];

/** How the service was at one moment, or over some minutes: the most of each. */
export interface PollSample {
  readonly at: number;
  readonly running: number;
  readonly retrying: number;
  readonly pollMs: number;
  /** Polls that failed. */
  readonly failed: number;
  readonly polls: number;
  /** What was left of each quota, by its name. */
  readonly left: Readonly<Record<string, number>>;
}

/** The sample that a notice makes, given the one before it; null where it tells nothing of polls. */
export function sampleOf({ name, facts }: Notice, before: PollSample | null, at: number): PollSample | null {
  const left = before?.left ?? {};
  switch (name) {
    case 'poll:tick:completed': {
      const { running, retrying, durationMs: pollMs } = facts;
      return { at, running, retrying, pollMs, failed: 0, polls: 1, left };
    }
    case 'poll:tick:failed':
      return {
        at,
        running: before?.running ?? 0,
        retrying: before?.retrying ?? 0,
        pollMs: facts.durationMs,
        failed: 1,
        polls: 1,
        left,
      };
    default:
      return null;
  }
}

/** Several samples as one, at the moment of the last. Quotas keep what was last left of them. */
export function mergedSample(samples: readonly PollSample[]): PollSample | null {
  const last = samples.at(-1);
  if (last === undefined) return null;
  const most = (value: (sample: PollSample) => number): number => Math.max(...samples.map(value));
  const sum = (value: (sample: PollSample) => number): number => samples.reduce((total, sample) => total + value(sample), 0);
  return {
    at: last.at,
    running: most(({ running }) => running),
    retrying: most(({ retrying }) => retrying),
    pollMs: most(({ pollMs }) => pollMs),
    failed: sum(({ failed }) => failed),
    polls: sum(({ polls }) => polls),
    left: last.left,
  };
}

/** At most so many samples, neighbours merged. */
export function thinned(samples: readonly PollSample[], most: number): readonly PollSample[] {
  const size = Math.ceil(samples.length / most);
  if (size <= 1) return samples;
  const groups = Array.from({ length: Math.ceil(samples.length / size) }, (_, index) =>
    samples.slice(index * size, (index + 1) * size),
  );
  return groups.flatMap((group) => mergedSample(group) ?? []);
}
