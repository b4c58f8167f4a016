import { z } from 'zod';
import { NOTIFICATION_EVENTS, NOTIFICATION_FORMATS, type NotificationTarget } from '../domain/model/notification.ts';
import type { Problem } from '../domain/model/problem.ts';
import { blamingUnset, type Env, expand, type Expanded, unsetNote } from './expand.ts';
import { byDefault, choice, filledText, text } from './fields.ts';
import { isLoopback } from './loopback.ts';

const targetKeys = z.strictObject({
  url: filledText('Address that messages are posted to, as `$NAME`: whoever knows it can post to it.'),
  format: byDefault(choice(NOTIFICATION_FORMATS, 'Form of a message: `slack` for an incoming webhook of Slack.'), 'json'),
  on: byDefault(
    z.array(choice(NOTIFICATION_EVENTS, 'Something to hear of.')).min(1).describe('What to hear of. By default everything.'),
    [...NOTIFICATION_EVENTS],
  ),
  secret: text('What messages are signed with (HMAC-SHA256), as `$NAME`. Without one they are not signed.').optional(),
});

/** The key `notifications`: a list of those who are told. */
export const notificationsKey = byDefault(
  z.array(targetKeys).describe(`Who is told of what: a list of \`{ url, format, on, secret }\`. See notifications.md.`),
  [],
);

export interface ReadNotifications {
  readonly targets: readonly NotificationTarget[];
  readonly problems: readonly Problem[];
  /** Values that must not be shown: the addresses too. */
  readonly secrets: readonly Expanded[];
}

/** The targets with their addresses filled in, and what is wrong with them. */
export function readNotifications(keys: z.output<typeof notificationsKey>, env: Env): ReadNotifications {
  const read = keys.map((target, index) => readTarget(target, index, env));
  const targets = withDistinctNames(read.map(({ target }) => target));
  return {
    targets,
    problems: [...read.flatMap(({ problems }) => problems), ...doubled(targets)],
    secrets: read.flatMap(({ secrets }) => secrets),
  };
}

function readTarget({ url: written, format, on, secret: writtenSecret }: z.output<typeof targetKeys>, index: number, env: Env) {
  const url = expand(written.trim(), 'anywhere', env);
  const secret = writtenSecret === undefined ? null : expand(writtenSecret, 'whole', env);
  const problems = [
    ...addressProblems(url, index),
    ...(secret !== null && secret.value.trim() === '' ? [emptyFault(index, 'secret', secret)] : []),
  ];
  const name = nameOf(written.trim(), index);
  const target: NotificationTarget = { name, url: url.value, format, on: [...new Set(on)], secret: secret?.value ?? null };
  return { target, problems, secrets: [url, ...pathOf(url), ...(secret === null ? [] : [secret])] };
}

/** A target is called by its variable: the address itself is never shown. */
function nameOf(written: string, index: number): string {
  return /^\$\{?([A-Za-z_]\w*)\}?$/.exec(written)?.[1] ?? `target-${index + 1}`;
}

function withDistinctNames(targets: readonly NotificationTarget[]): readonly NotificationTarget[] {
  return targets.map((target, index) => {
    const earlier = targets.slice(0, index).filter(({ name }) => name === target.name).length;
    return earlier === 0 ? target : { ...target, name: `${target.name}-${earlier + 1}` };
  });
}

function addressProblems(url: Expanded, index: number): readonly Problem[] {
  if (url.value === '') return [emptyFault(index, 'url', url)];
  if (!URL.canParse(url.value) || !/^https?:\/\//i.test(url.value)) {
    return [blamingUnset(fault(index, 'url', `must be an address that begins with https://${unsetNote(url)}`), url)];
  }
  const { protocol, hostname } = new URL(url.value);
  if (protocol === 'https:' || isLoopback(hostname)) return [];
  const message = 'is not encrypted (http): whoever is on the way reads the messages and the address; write https://';
  return [{ ...fault(index, 'url', message), severity: 'warning', check: 'notifications.url.unencrypted' }];
}

/** What comes after the host is what makes the address a secret: it is hidden by itself too. */
function pathOf(url: Expanded): readonly Expanded[] {
  if (!URL.canParse(url.value)) return [];
  const { pathname, search } = new URL(url.value);
  const rest = `${pathname}${search}`;
  return rest.length < SHORTEST_SECRET_PATH ? [] : [{ value: rest, variables: [], unset: [] }];
}

/** A shorter one, such as `/hooks`, is a word like any other. */
const SHORTEST_SECRET_PATH = 12;

function doubled(targets: readonly NotificationTarget[]): readonly Problem[] {
  return targets.flatMap((target, index) => {
    const twin = targets
      .slice(0, index)
      .findIndex(({ url, on }) => url === target.url && on.some((event) => target.on.includes(event)));
    if (twin < 0 || target.url === '') return [];
    const both = target.on.filter((event) => targets[twin]?.on.includes(event));
    const message = `is the address of entry ${twin + 1} too, so ${both.join(', ')} would be told twice`;
    return [fault(index, 'url', message)];
  });
}

function emptyFault(index: number, key: string, value: Expanded): Problem {
  return blamingUnset(fault(index, key, `must not be empty${unsetNote(value)}`), value);
}

function fault(index: number, key: string, message: string): Problem {
  const place = ['notifications', index, key];
  return { severity: 'error', check: `notifications.${key}`, message: `entry ${index + 1} \`${key}\` ${message}`, key: place };
}
