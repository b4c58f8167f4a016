import { PARK_REASONS } from '../../domain/model/claim.ts';
import type { Quota } from '../../domain/model/quota.ts';
import type { Snapshot } from '../../domain/views/snapshot.ts';
import type { HostView } from '../../ports/runner.ts';
import { oneSample, seconds, type MetricSample } from './samples.ts';

/** A gauge read from the snapshot when somebody asks. */
export interface Measure {
  readonly name: string;
  readonly help: string;
  readonly read: (snapshot: Snapshot) => readonly MetricSample[];
  readonly labels?: readonly string[];
}

const QUOTA_LABELS = ['kind', 'resource'];

export const MEASURES: readonly Measure[] = [
  { name: 'svc_sessions_running', help: 'Sessions that run now.', read: (snapshot) => oneSample(snapshot.running.length) },
  { name: 'svc_sessions_retrying', help: 'Issues in the retry queue.', read: (snapshot) => oneSample(snapshot.retrying.length) },
  {
    name: 'svc_slots_available',
    help: 'Sessions that could start now.',
    read: (snapshot) => oneSample(snapshot.slots.available),
  },
  { name: 'svc_slots_max', help: 'Sessions that may run at once.', read: (snapshot) => oneSample(snapshot.slots.max) },
  {
    name: 'svc_active_sessions_elapsed_seconds',
    help: 'Time spent so far in the sessions that run now, added up.',
    read: ({ running, generatedAt }) =>
      oneSample(running.reduce((sum, entry) => sum + seconds(generatedAt - entry.startedAt), 0)),
  },
  {
    name: 'svc_merge_requests_watched',
    help: 'Merge requests that reactions look after.',
    read: (snapshot) => oneSample(snapshot.watches.length),
  },
  {
    name: 'svc_quota_remaining',
    help: 'What the tracker or forge last said is left of its quota.',
    labels: QUOTA_LABELS,
    read: ({ quotas }) => quotas.flatMap((quota) => oneSample(quota.remaining, quotaLabels(quota))),
  },
  {
    name: 'svc_quota_limit',
    help: 'What a full quota of the tracker or forge holds, where it says so.',
    labels: QUOTA_LABELS,
    read: ({ quotas }) => quotas.flatMap((quota) => (quota.limit === null ? [] : oneSample(quota.limit, quotaLabels(quota)))),
  },
  {
    name: 'svc_notifications_waiting',
    help: 'Messages that a target has not taken yet.',
    labels: ['target'],
    read: ({ notifications }) => notifications.flatMap(({ target, waiting }) => oneSample(waiting, { target })),
  },
  {
    name: 'svc_parked_issues',
    help: 'Issues that wait for a person, by why.',
    labels: ['reason'],
    read: ({ parked }) =>
      PARK_REASONS.flatMap((reason) => oneSample(parked.filter((entry) => entry.reason === reason).length, { reason })),
  },
];

/** A gauge of each host that runs are given to; null where the host does not tell. */
export interface HostMeasure {
  readonly name: string;
  readonly help: string;
  readonly read: (host: HostView) => number | null;
}

export const HOST_MEASURES: readonly HostMeasure[] = [
  { name: 'svc_host_runs', help: 'Runs on a host now.', read: ({ running }) => running },
  { name: 'svc_host_slots', help: 'Runs that a host takes at once.', read: ({ slots }) => slots },
  { name: 'svc_host_load', help: 'Load of a host over the last minute.', read: ({ load }) => load },
  { name: 'svc_host_up', help: 'Whether a host can be given runs: 1 or 0.', read: ({ problem }) => (problem === null ? 1 : 0) },
];

/** Which quota a figure is of. */
function quotaLabels({ kind, resource }: Quota): MetricSample['labels'] {
  return { kind, resource };
}
