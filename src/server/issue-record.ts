import type { Parked } from '../domain/model/claim.ts';
import type { IssueRef } from '../domain/model/issue.ts';
import type { Run } from '../domain/model/run.ts';
import type { Hold } from '../domain/model/hold.ts';
import type { RunningView } from '../domain/views/running-view.ts';
import type { RetryView, Snapshot, WatchView } from '../domain/views/snapshot.ts';
import type { Daemon } from '../ports/daemon.ts';

/** How many runs of one issue are shown at once. */
export const RUNS_OF_ISSUE = 50;

/** Where an issue is now, the most telling first. */
export type IssueStatus = 'running' | 'waiting' | 'parked' | 'held' | 'watched' | 'handed_off' | 'not_running';

/** All that is known of one issue, whatever its place. */
export interface IssueRecord {
  readonly issue: IssueRef;
  readonly place: IssueStatus;
  readonly running: RunningView | null;
  readonly retry: RetryView | null;
  readonly parked: Parked | null;
  readonly hold: Hold | null;
  readonly watch: WatchView | null;
  /** Newest first. */
  readonly runs: readonly Run[];
}

/** By the name as it was given, else by its qualified form, else ignoring case; null when nobody has heard of it. */
export async function findIssueRecord(daemon: Daemon, snapshot: Snapshot, name: string): Promise<IssueRecord | null> {
  const known = issuesOf(snapshot);
  const lower = name.toLowerCase();
  const found =
    known.find(({ identifier }) => identifier === name) ??
    known.find(({ displayIdentifier }) => displayIdentifier === name) ??
    known.find(({ identifier }) => identifier.toLowerCase() === lower);
  const identifier = found?.identifier ?? name;
  const tracker = daemon.trackerOf(identifier);
  // One that is at work is shown with its own history alone; of one that is only remembered, what there is.
  const whose = found === undefined ? { mostly: tracker } : { tracker };
  const runs = await daemon.history.listRuns({ identifier, ...whose, limit: RUNS_OF_ISSUE });
  const issue = found ?? runs[0]?.issue;
  return issue === undefined ? null : recordOf(snapshot, issue, runs);
}

function recordOf(snapshot: Snapshot, issue: IssueRef, runs: readonly Run[]): IssueRecord {
  const record = {
    issue,
    running: snapshot.running.find(({ issueId }) => issueId === issue.id) ?? null,
    retry: snapshot.retrying.find(({ issueId }) => issueId === issue.id) ?? null,
    parked: snapshot.parked.find((parked) => parked.issue.id === issue.id) ?? null,
    hold: snapshot.holds.find((hold) => hold.issue.id === issue.id) ?? null,
    watch: snapshot.watches.find((watch) => watch.issue.id === issue.id) ?? null,
    runs,
  };
  return { ...record, place: placeOf(record) };
}

function placeOf({ running, retry, parked, hold, watch, runs }: Omit<IssueRecord, 'place'>): IssueStatus {
  if (running !== null) return 'running';
  if (retry !== null) return 'waiting';
  if (parked !== null) return 'parked';
  if (hold !== null) return 'held';
  if (watch !== null) return 'watched';
  return runs[0]?.status === 'succeeded' ? 'handed_off' : 'not_running';
}

/** Everybody the snapshot speaks of; those with the fullest record first. */
function issuesOf({ running, retrying, parked, holds, watches }: Snapshot): readonly IssueRef[] {
  return [
    ...[...parked, ...holds, ...watches].map(({ issue }) => issue),
    ...running.map((row) => ({ ...issueOf(row, row.state), ...(row.stateAssumed ? { stateAssumed: true } : {}) })),
    ...retrying.map((row) => issueOf(row, '')),
  ];
}

function issueOf({ issueId, issueIdentifier, displayIdentifier, title, url }: RunningView | RetryView, state: string): IssueRef {
  return { id: issueId, identifier: issueIdentifier, displayIdentifier, title, url, state };
}
