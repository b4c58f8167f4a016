import type { OutboxEntry } from './claim.ts';
import type { IssueRef } from './issue.ts';

/** What people can be told of, one row for each. */
export const NOTIFICATION_EVENTS = ['handoff', 'failed', 'parked', 'budget', 'escalated', 'merged', 'paused', 'down'] as const;
export type NotificationEvent = (typeof NOTIFICATION_EVENTS)[number];

export const NOTIFICATION_FORMATS = ['json', 'slack'] as const;

/** Who is told of what, from the workflow file. */
export interface NotificationTarget {
  /** For people and records: the address itself is a secret. */
  readonly name: string;
  readonly url: string;
  readonly format: (typeof NOTIFICATION_FORMATS)[number];
  readonly on: readonly NotificationEvent[];
  /** What messages are signed with; null leaves them unsigned. */
  readonly secret: string | null;
}

/** What lasts until it is over: a person's pause, a tracker that cannot be read, and that no session can start. */
export const LASTING = ['pause', 'tracker', 'sessions'] as const;

/** Something that lasts and was told: the next process neither tells it again nor leaves its end out. Durable. */
export interface Told {
  readonly subject: (typeof LASTING)[number];
  /** What it was then: another reason or problem is told anew. */
  readonly what: string;
}

/** One message for one target, as it waits in the outbox. */
export interface NotificationWrite {
  readonly kind: 'notification';
  /** By name: the address is read from the workflow file when it is sent. */
  readonly target: string;
  readonly event: NotificationEvent;
  /** What was begun (a pause, an outage) is over again. */
  readonly over: boolean;
  readonly at: number;
  /** One line for people. */
  readonly text: string;
  /** Of the dashboard, such as `/issues/ENG-7`. */
  readonly page: string;
  /** Why the last try failed; empty before. */
  readonly error: string;
}

export type NotificationEntry = OutboxEntry & { readonly write: NotificationWrite };

export function isNotification(entry: OutboxEntry): entry is NotificationEntry {
  return entry.write.kind === 'notification';
}

/** What a message is about when it is about the service itself. */
export const NO_ISSUE: IssueRef = { id: '', identifier: '', displayIdentifier: null, title: '', url: '', state: '' };
