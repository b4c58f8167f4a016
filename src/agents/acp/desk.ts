import { JsonRpcError, RPC_CODES } from '../../lib/json-rpc/index.ts';
import type { Handlers } from './connection.ts';
import type { EventGate } from './event-gate.ts';
import type { PermissionPolicy } from './options.ts';
import { CANCELLED_PERMISSION, choosePermission, selectedPermission } from './permission.ts';
import type { TurnStory } from './turn-story.ts';
import { permissionRequest, sessionNotification, type ToolCall } from './wire.ts';

/** Answers what the agent asks at any time, and passes what it tells on to the turn that runs. */
export interface Desk {
  readonly handlers: Handlers;
  /** How many updates came so far. */
  updates(): number;
  /** The last line that was no message; empty when there was none. */
  lastUnreadable(): string;
  beginTurn(turn: DeskTurn): void;
  /** The turn is being cancelled: whatever is asked for is not given any more. */
  cancelTurn(): void;
  endTurn(): void;
}

export interface DeskTurn {
  readonly sessionId: string;
  readonly story: TurnStory;
  readonly gate: EventGate;
  /** The agent asked for something that no policy can answer. */
  readonly onNeedsPerson: (why: string) => void;
}

const SHOWN_LENGTH = 200;

export function createDesk(policy: PermissionPolicy): Desk {
  let turn: DeskTurn | null = null;
  let isCancelled = false;
  let updates = 0;
  let unreadable = '';

  function decide(params: unknown): unknown {
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
    if (policy === 'deny') refuse(title, call ?? null);
    else if (call) turn?.story.permissionGiven(call);
    return selectedPermission(optionId);
  }

  function refuse(title: string, call: ToolCall | null): void {
    turn?.gate.notice(`permission denied: ${title}`);
    turn?.story.permissionRefused(title, call);
  }

  return {
    handlers: {
      onRequest(method, params) {
        if (method === 'session/request_permission') return decide(params);
        turn?.gate.notice(`the agent asked for ${method.slice(0, SHOWN_LENGTH)}, which is not offered`);
        throw new JsonRpcError(RPC_CODES.methodNotFound, `method not found: ${method.slice(0, SHOWN_LENGTH)}`);
      },
      onNotification(method, params) {
        if (method !== 'session/update') return;
        updates += 1;
        const read = sessionNotification.safeParse(params);
        if (!read.success || turn === null) return;
        if (read.data.sessionId === turn.sessionId) turn.story.update(read.data.update);
        else turn.story.updateElsewhere();
      },
      onUnreadable(line, why) {
        unreadable = line.trim().slice(0, SHOWN_LENGTH);
        turn?.gate.notice(`a line of the agent was left out, it is ${why}: ${unreadable}`);
      },
    },
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
