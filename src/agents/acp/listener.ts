import { JsonRpcError, RPC_CODES, type JsonRpcPeerOptions } from '../../lib/json-rpc/index.ts';
import type { EventStream } from '../shared/event-stream.ts';
import type { PermissionPolicy } from './options.ts';
import { permissionRequest, sessionNotification, sessionUpdate, type PermissionRequest, type ToolCall } from './parse.ts';
import type { TurnReader } from './turn-reader.ts';

/** Answers what the agent asks at any time, and passes what it tells on to the turn that runs. */
export interface Listener extends Pick<JsonRpcPeerOptions, 'onRequest' | 'onNotification' | 'onUnreadable'> {
  /** How many updates came so far. */
  updates(): number;
  /** The last line that was no message; empty when there was none. */
  lastUnreadable(): string;
  /** What the conversation had cost when it was last told outside of a turn; null when it was not. */
  costBetweenTurns(): number | null;
  beginTurn(turn: ListeningTurn): void;
  /** The turn is being cancelled: whatever is asked for is not given any more. */
  cancelTurn(): void;
  endTurn(): void;
}

export interface ListeningTurn {
  readonly sessionId: string;
  readonly reader: TurnReader;
  readonly events: EventStream;
  /** The agent asked for something that no policy can answer. */
  readonly onNeedsPerson: (why: string) => void;
}

const SHOWN_LENGTH = 200;

export function createListener(policy: PermissionPolicy): Listener {
  let turn: ListeningTurn | null = null;
  let isCancelled = false;
  let updates = 0;
  let unreadable = '';
  let costBetween: number | null = null;

  /** A loaded conversation may tell what it has cost so far before its first turn. */
  function noteCost(update: unknown): void {
    const read = sessionUpdate.safeParse(update);
    if (read.success && read.data.sessionUpdate === 'usage_update') costBetween = read.data.cost?.amount ?? costBetween;
  }

  return {
    onRequest(method, params) {
      if (method === 'session/request_permission') return answerPermission(params, { policy, turn, isCancelled });
      turn?.events.notice(`the agent asked for ${method.slice(0, SHOWN_LENGTH)}, which is not offered`);
      throw new JsonRpcError(RPC_CODES.methodNotFound, `method not found: ${method.slice(0, SHOWN_LENGTH)}`);
    },
    onNotification(method, params) {
      if (method !== 'session/update') return;
      updates += 1;
      const read = sessionNotification.safeParse(params);
      if (!read.success) return;
      if (turn === null) return noteCost(read.data.update);
      if (read.data.sessionId === turn.sessionId) turn.reader.update(read.data.update);
      // An update of another session, such as that of a sub-agent, is a sign of life.
      turn.events.alive();
    },
    onUnreadable(line, why) {
      unreadable = line.trim().slice(0, SHOWN_LENGTH);
      turn?.events.notice(`a line of the agent was left out, it is ${why}: ${unreadable}`);
    },
    costBetweenTurns: () => costBetween,
    updates: () => updates,
    lastUnreadable: () => unreadable,
    beginTurn(next) {
      turn = next;
      isCancelled = false;
    },
    cancelTurn() {
      isCancelled = true;
    },
    endTurn() {
      turn = null;
    },
  };
}

interface Asked {
  readonly policy: PermissionPolicy;
  readonly turn: ListeningTurn | null;
  readonly isCancelled: boolean;
}

/** Answers by the policy, and tells the turn what was given or refused. */
function answerPermission(params: unknown, { policy, turn, isCancelled }: Asked): unknown {
  const read = permissionRequest.safeParse(params);
  if (!read.success) throw new JsonRpcError(RPC_CODES.invalidParams, 'not a permission request');
  if (isCancelled) return CANCELLED_PERMISSION;
  const call = read.data.toolCall;
  const title = call?.title ?? call?.toolCallId ?? 'something';
  const optionId = choosePermission(policy, read.data);
  if (optionId === null) {
    turn?.onNeedsPerson(`the agent asked whether it may do "${title}" and offered no way to ${policy} it`);
    return CANCELLED_PERMISSION;
  }
  if (policy === 'deny') refuse(turn, title, call ?? null);
  else if (call) turn?.reader.permissionGiven(call);
  return selectedPermission(optionId);
}

function refuse(turn: ListeningTurn | null, title: string, call: ToolCall | null): void {
  turn?.events.notice(`permission denied: ${title}`);
  turn?.reader.permissionRefused(title, call);
}

/** What each policy answers, first choice first. A lasting answer only where a single one is not offered. */
export const ANSWERS: Readonly<Record<PermissionPolicy, readonly string[]>> = {
  allow: ['allow_once', 'allow_always'],
  deny: ['reject_once', 'reject_always'],
};

/** The option that the policy chooses, or null when the agent offers none that it may choose. */
export function choosePermission(policy: PermissionPolicy, { options }: PermissionRequest): string | null {
  for (const kind of ANSWERS[policy]) {
    const option = options.find((one) => one.kind === kind);
    if (option) return option.optionId;
  }
  return null;
}

const CANCELLED_PERMISSION = { outcome: { outcome: 'cancelled' } } as const;

function selectedPermission(optionId: string) {
  return { outcome: { outcome: 'selected', optionId } } as const;
}
