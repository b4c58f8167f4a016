import { randomUUID } from 'node:crypto';
import type { Conversation } from './args.ts';
import type { EventGate } from './event-gate.ts';

/** The conversation of a session: which one it is, and what was said about it. */
export interface ConversationKeeper {
  current(): Conversation;
  /** Claude Code named the conversation and its model. */
  named(sessionId: string, model: string, gate: EventGate): void;
  /** The old one cannot go on. */
  replace(why: string, gate: EventGate): void;
  /** Says, once, when the session could not go on with what it was asked to. */
  announce(gate: EventGate): void;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Goes on with a conversation, or starts one under an id of our choice, so that it is known before the first word. */
export function keepConversation(resumeId: string | null): ConversationKeeper {
  const resumed = resumeId !== null && UUID.test(resumeId) ? { id: resumeId, isNew: false } : null;
  let conversation = resumed ?? newConversation();
  // Another agent kind's, for example, when the operator changed kinds.
  let foreignId = resumed === null ? resumeId : null;
  let told = '';
  return {
    current: () => conversation,
    named(sessionId, model, gate) {
      conversation = { id: UUID.test(sessionId) ? sessionId : conversation.id, isNew: false };
      const { id } = conversation;
      if (told === `${id} ${model}`) return;
      told = `${id} ${model}`;
      gate.emit({ type: 'session_started', sessionId: id, ...(model === '' ? {} : { model: model.slice(0, 200) }) });
    },
    replace(why, gate) {
      gate.emit({ type: 'notice', text: `the conversation ${conversation.id} cannot go on, ${why}: a new one is started` });
      conversation = newConversation();
    },
    announce(gate) {
      if (foreignId === null) return;
      gate.emit({ type: 'notice', text: `the conversation ${foreignId} is not one of Claude Code: a new one is started` });
      foreignId = null;
    },
  };
}

function newConversation(): Conversation {
  return { id: randomUUID(), isNew: true };
}
