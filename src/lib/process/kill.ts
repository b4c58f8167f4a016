import { setTimeout as delay } from 'node:timers/promises';
import { groupMembers } from '../process-identity.ts';

/** How a group is asked to end, and how long it may take over it. */
export interface EndOptions {
  /** How long the group may take to leave by itself; 0 kills at once. */
  readonly graceMs: number;
  /** The polite signal; SIGTERM unless given. */
  readonly signal?: NodeJS.Signals;
}

/** A process group of ours, known by its leader's pid. */
export interface ProcessGroup {
  /** True once no process of the group runs any more. */
  isEmpty(): boolean;
  /** Sends every member a signal. */
  send(signal: NodeJS.Signals): void;
  /** Asks the group to end, then kills it. Resolves true when it is empty, false when something survived the kill. */
  end(options: EndOptions): Promise<boolean>;
}

/** A process in uninterruptible sleep cannot be killed; nobody waits for it longer than this. */
const KILL_PATIENCE_MS = 2_000;
const FIRST_LOOK_MS = 5;
const THOROUGH_LOOK_MS = 40;
const SLOWEST_LOOK_MS = 100;

/** Ends the group led by `pid`. Safe to repeat and to call for a group that is gone. */
export function endGroup(pid: number, options: EndOptions): Promise<boolean> {
  return createGroup(pid).end(options);
}

/**
 * A number is reserved by the system while its group has a member, and may belong to strangers afterwards. So a group
 * that was seen empty once is never signalled again.
 */
export function createGroup(pid: number): ProcessGroup {
  // kill(-1) reaches every process of the user and kill(-0) our own group.
  if (!Number.isSafeInteger(pid) || pid <= 1 || pid === process.pid) throw new RangeError(`no process group of ours: ${pid}`);
  let empty = false;

  function send(signal: NodeJS.Signals | 0): void {
    if (empty) return;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      // EPERM: a member changed its user. It is there, and out of our reach.
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') empty = true;
    }
  }

  function isEmpty(): boolean {
    send(0);
    return empty;
  }

  /** Looks more and more rarely until the group is empty or the time is up. `again` is sent at every look. */
  async function waitUntilEmpty(patienceMs: number, again: NodeJS.Signals | 0): Promise<boolean> {
    const until = performance.now() + patienceMs;
    for (let pause = FIRST_LOOK_MS; !isEmpty(); pause = Math.min(pause * 2, SLOWEST_LOOK_MS)) {
      // Dead members that nobody reaps keep a group for ever: usual in a container, where we may be process 1.
      if (pause >= THOROUGH_LOOK_MS && groupMembers(pid).length === 0) empty = true;
      if (performance.now() >= until) return empty;
      await delay(Math.min(pause, Math.max(1, until - performance.now())));
      send(again);
    }
    return true;
  }

  return {
    isEmpty,
    send,
    async end({ graceMs, signal = 'SIGTERM' }) {
      if (graceMs > 0) {
        send(signal);
        if (await waitUntilEmpty(graceMs, 0)) return true;
      }
      // Sent again and again: a member may have forked while the first one was delivered.
      send('SIGKILL');
      return waitUntilEmpty(KILL_PATIENCE_MS, 'SIGKILL');
    },
  };
}
