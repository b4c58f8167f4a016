import { readFileSync } from 'node:fs';
import type { AgentEvent } from '../../../src/domain/model/agent-event.ts';
import { createMask } from '../../../src/lib/http/index.ts';
import { createEventStream } from '../../../src/agents/shared/event-stream.ts';
import { judge, type Circumstances, type Ending, type TurnVerdict } from '../../../src/agents/claude-code/judge.ts';
import { createReader } from '../../../src/agents/claude-code/turn.ts';
import { createUsage } from '../../../src/agents/claude-code/usage.ts';

export const NOW = Date.parse('2026-11-15T12:00:00Z');
export const PLAIN: Circumstances = { now: NOW, mode: 'bypassPermissions', changedBefore: false };
export const EXIT_0: Ending = { code: 0, signal: null, stderr: '' };
export const EXIT_1: Ending = { code: 1, signal: null, stderr: '' };
export const recorded = (name: string): string[] =>
  readFileSync(new URL(`../../../src/agents/claude-code/fixtures/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n');
interface Replay {
  readonly events: AgentEvent[];
  readonly verdict: TurnVerdict;
  readonly sessionIds: string[];
}
export function replay(lines: readonly string[], ending: Ending, circumstances = PLAIN): Replay {
  const events: AgentEvent[] = [];
  const sessionIds: string[] = [];
  const stream = createEventStream({ onEvent: (event) => events.push(event), mask: createMask([]), aliveMs: 60_000 });
  const onInit = (sessionId: string): void => void sessionIds.push(sessionId);
  const reader = createReader({ events: stream, usage: createUsage(), onInit });
  for (const line of lines) reader.accept(line);
  const verdict = judge(reader.finish(), ending, circumstances);
  stream.close();
  return { events, verdict, sessionIds };
}
export const kindOf = (verdict: TurnVerdict): string => (verdict.type === 'ok' ? 'ok' : verdict.error.kind);
export const messageOf = (verdict: TurnVerdict): string => (verdict.type === 'ok' ? '' : verdict.error.message);
export const textsOf = (events: readonly AgentEvent[], type: 'message' | 'notice'): string[] =>
  events.flatMap((event) => (event.type === type ? [event.text] : []));
export const lastUsage = (events: readonly AgentEvent[]): AgentEvent | undefined =>
  events.findLast((event) => event.type === 'usage');
