import type { Parked } from '../domain/model/claim.ts';
import type { IssueRef } from '../domain/model/issue.ts';
import { byName } from '../domain/model/issue-name.ts';
import type { Hold } from '../domain/model/hold.ts';
import { stateGivenSince } from '../domain/views/chronicle.ts';
import type { RunningView } from '../domain/views/running-view.ts';
import type { RetryView, Snapshot } from '../domain/views/snapshot.ts';
import type { WatchView } from '../domain/views/watch-view.ts';
import type { Daemon } from '../ports/daemon.ts';
import type { StatisticsRow } from '../ports/store.ts';
import { readRunList, type RunList } from './run-list.ts';

/** How many runs of one issue are shown at once. */
const RUNS_OF_ISSUE = 50;

/** Where an issue is now, the most telling first. */
export type IssueStatus = 'running' | 'waiting' | 'parked' | 'held' | 'watched' | 'handed_off' | 'not_running';

/** All that is known of one issue, whatever its place. */
export interface IssueRecord extends RunList {
  /** What all its runs come to, not only those that are listed; null where there is none. */
  readonly sums: StatisticsRow | null;
  readonly issue: IssueRef;
  readonly place: IssueStatus;
  /** Its state in the tracker; null where nobody has looked since its last run. */
  readonly state: string | null;
  readonly running: RunningView | null;
  readonly retry: RetryView | null;
  readonly parked: Parked | null;
  readonly hold: Hold | null;
  readonly watch: WatchView | null;
}

/** Null when nobody has heard of an issue of this name. */
export async function findIssueRecord(daemon: Daemon, snapshot: Snapshot, name: string): Promise<IssueRecord | null> {
  const found = byName(name, (isMeant) => firstIssue(snapshot, isMeant));
  const identifier = found?.identifier ?? name;
  const tracker = daemon.trackerOf(identifier);
  // One that is at work is shown with its own history alone; of one that is only remembered, what there is.
  const whose = found === undefined ? { mostly: tracker, anyCase: true } : { tracker };
  const list = await readRunList(daemon.history, { identifier, ...whose, limit: RUNS_OF_ISSUE });
  const [sums = null] = await daemon.history.statistics({ since: 0, by: 'issue', identifier, ...whose });
  const issue = found ?? list.runs[0]?.issue;
  return issue === undefined ? null : withOutcome(daemon, recordOf(snapshot, isOne(issue, daemon), { issue, ...list, sums }));
}

/** A run that succeeds is not always followed by the handoff: the issue may have been moved, finished or deleted meanwhile. */
async function withOutcome(daemon: Daemon, record: IssueRecord): Promise<IssueRecord> {
  const [last] = record.runs;
  if ((record.place !== 'handed_off' && record.place !== 'watched') || last === undefined) return record;
  const { identifier } = record.issue;
  const journal = await daemon.chronicle.journalOf(identifier, daemon.trackerOf(identifier));
  const given = stateGivenSince(journal, last.startedAt);
  const place = record.place === 'handed_off' && given === null ? 'not_running' : record.place;
  return { ...record, place, state: given ?? null };
}

type IsMeant = (issue: Pick<IssueRef, 'id' | 'identifier'>) => boolean;

/** The snapshot also tells what runs for a tracker that was watched before, which may have issues of the same ids. */
function isOne(issue: IssueRef, { trackerOf }: Daemon): IsMeant {
  const isOurs = ({ identifier }: Pick<IssueRef, 'identifier'>): boolean =>
    identifier === issue.identifier || trackerOf(identifier) === trackerOf(issue.identifier);
  return (other) => other.id === issue.id && isOurs(other);
}

function recordOf(
  { running, retrying, parked, holds, watches }: Snapshot,
  isMeant: IsMeant,
  known: Pick<IssueRecord, keyof RunList | 'issue' | 'sums'>,
): IssueRecord {
  const record = {
    running: running.find((row) => isMeant(idsOf(row))) ?? null,
    retry: retrying.find((row) => isMeant(idsOf(row))) ?? null,
    parked: parked.find((row) => isMeant(row.issue)) ?? null,
    hold: holds.find((row) => isMeant(row.issue)) ?? null,
    watch: watches.find((row) => isMeant(row.issue)) ?? null,
    ...known,
  };
  const place = placeOf(record);
  const { state } = known.issue;
  return { ...record, place, state: STATE_KNOWN.has(place) && state !== '' ? state : null };
}

function idsOf({ issueId, issueIdentifier }: RunningView | RetryView): Pick<IssueRef, 'id' | 'identifier'> {
  return { id: issueId, identifier: issueIdentifier };
}

/** Elsewhere the state of the issue is that of its last run, which moved it on. */
const STATE_KNOWN: ReadonlySet<IssueStatus> = new Set(['running', 'parked', 'held']);

function placeOf({ running, retry, parked, hold, watch, runs }: Omit<IssueRecord, 'place' | 'state'>): IssueStatus {
  if (running !== null) return 'running';
  if (retry !== null) return 'waiting';
  if (parked !== null) return 'parked';
  if (hold !== null) return 'held';
  if (watch !== null) return 'watched';
  return runs[0]?.status === 'succeeded' ? 'handed_off' : 'not_running';
}

/** Of everybody the snapshot speaks of; those with the fullest record first. There may be thousands: only the one found is written out. */
function firstIssue(
  { running, retrying, parked, holds, watches }: Snapshot,
  isMeant: (issue: Pick<IssueRef, 'identifier' | 'displayIdentifier'>) => boolean,
): IssueRef | undefined {
  const record =
    parked.find(({ issue }) => isMeant(issue)) ??
    holds.find(({ issue }) => isMeant(issue)) ??
    watches.find(({ issue }) => isMeant(issue));
  if (record !== undefined) return record.issue;
  const run = running.find((row) => isMeant(namesOf(row)));
  if (run !== undefined) return { ...issueOf(run, run.state), ...(run.stateAssumed ? { stateAssumed: true } : {}) };
  const retry = retrying.find((row) => isMeant(namesOf(row)));
  return retry && issueOf(retry, '');
}

function namesOf({ issueIdentifier, displayIdentifier }: RunningView | RetryView) {
  return { identifier: issueIdentifier, displayIdentifier };
}

function issueOf({ issueId, issueIdentifier, displayIdentifier, title, url }: RunningView | RetryView, state: string): IssueRef {
  return { id: issueId, identifier: issueIdentifier, displayIdentifier, title, url, state };
}
