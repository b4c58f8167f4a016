import type { AgentEvent } from '../../src/domain/model/agent-event.ts';
import { LONGEST_SESSION_ID } from '../../src/agents/shared/json.ts';

/** Looks at every event of a turn. */
export interface EventCheck {
  readonly see: (event: AgentEvent) => void;
  /** Throws when one was not what it may be. Events that come later are refused at once. */
  end(): void;
}

/** The bounds that `AgentEvent` promises, by the names of its texts. */
const LONGEST: Readonly<Record<string, number>> = { toolId: 200, name: 200, model: 200, input: 500, output: 2_000 };
const LONGEST_BYTES = 4_096;
const MOST_EVENTS = 20_000;

export function createEventCheck(secrets: readonly string[]): EventCheck {
  let fault: string | null = null;
  let count = 0;
  let isOver = false;
  let tokens = 0;
  return {
    see(event) {
      if (isOver) throw new Error('an event after the end');
      count += 1;
      fault ??= faultIn(event, secrets) ?? (count > MOST_EVENTS ? 'too many events' : null);
      if (event.type !== 'usage') return;
      if (event.tokens.totalTokens < tokens) fault ??= 'tokens went down';
      tokens = event.tokens.totalTokens;
    },
    end() {
      isOver = true;
      if (fault !== null) throw new Error(fault);
    },
  };
}

function faultIn(event: AgentEvent, secrets: readonly string[]): string | null {
  for (const [name, value] of Object.entries(event)) {
    if (typeof value === 'number' && !(Number.isFinite(value) && value >= 0)) return `${name} is ${value}`;
    const fault = typeof value === 'string' ? faultInText(name, value, secrets) : null;
    if (fault !== null) return `${event.type}: ${fault}`;
  }
  if (event.type !== 'usage') return null;
  const models = Object.keys(event.requestsByModel ?? {});
  const fault = models.map((model) => faultInText('model', model, secrets)).find((one) => one !== null);
  if (fault !== undefined) return `usage: ${fault}`;
  const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
  return Object.values(event.tokens).every(isCount) ? null : `tokens are ${JSON.stringify(event.tokens)}`;
}

function faultInText(name: string, value: string, secrets: readonly string[]): string | null {
  // The id of a conversation is what it is resumed by.
  if (name === 'sessionId') return value.length > LONGEST_SESSION_ID ? 'a longer id' : null;
  if (secrets.some((secret) => value.includes(secret))) return `${name} shows a secret`;
  if (value.length > (LONGEST[name] ?? LONGEST_BYTES)) return `${name} has ${value.length} characters`;
  return name === 'text' && Buffer.byteLength(value) > LONGEST_BYTES ? `${name} has ${Buffer.byteLength(value)} bytes` : null;
}

export function refuseSecrets(text: string, secrets: readonly string[]): void {
  if (secrets.some((secret) => text.includes(secret))) throw new Error('a secret is shown');
}
