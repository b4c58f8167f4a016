import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { NO_TOKENS, type AgentEvent } from '../../domain/model/agent-event.ts';
import { createEventGate, type EventGate } from './gate.ts';

function gateInto(events: AgentEvent[], options: { clean?: (text: string) => string; silenceMs?: number } = {}): EventGate {
  const { clean = (text) => text, silenceMs = 30_000 } = options;
  return createEventGate({ onEvent: (event) => events.push(event), clean, silenceMs });
}

const usage = (requests: number): AgentEvent => ({ type: 'usage', tokens: NO_TOKENS, requests });

describe('the gate of a turn', () => {
  it('lets the first and the last message through and drops what is too much between them', async () => {
    const events: AgentEvent[] = [];
    const gate = gateInto(events);
    for (let n = 1; n <= 1000; n += 1) gate.emit({ type: 'message', text: `${n}` });
    expect(events).toEqual([{ type: 'message', text: '1' }]);
    await delay(120);
    expect(events.at(-1)).toEqual({ type: 'message', text: '1000' });
    gate.emit({ type: 'message', text: 'last' });
    gate.close();
    expect(events.map((event) => event.type === 'message' && event.text)).toEqual(['1', '1000', 'last']);
  });

  it('keeps the last figures', () => {
    const events: AgentEvent[] = [];
    const gate = gateInto(events);
    for (let n = 1; n <= 100; n += 1) gate.emit(usage(n));
    gate.close();
    expect(events).toEqual([usage(1), usage(100)]);
  });

  it('shows the end of exactly those calls whose start it showed, and tells how much is missing', () => {
    const events: AgentEvent[] = [];
    const gate = gateInto(events);
    for (let n = 0; n < 200; n += 1) {
      gate.emit({ type: 'tool_started', toolId: `${n}`, name: 'shell' });
      gate.emit({ type: 'tool_ended', toolId: `${n}`, name: 'shell', ok: true });
    }
    gate.close();
    expect(events).toHaveLength(101);
    expect(events.at(-1)).toEqual({ type: 'notice', text: '150 more events are not shown' });
  });

  it('cuts long texts without breaking a character, and masks before it cuts', () => {
    const events: AgentEvent[] = [];
    const gate = gateInto(events, { clean: (text) => text.replaceAll('geheim', '[redacted]') });
    gate.emit({ type: 'message', text: `geheim ${'ä'.repeat(5000)}` });
    const [event] = events;
    const text = event?.type === 'message' ? event.text : '';
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
    expect(text).toMatch(/^\[redacted\] ä+…$/);
  });

  it('makes an event of a sign of life after a long silence only', async () => {
    const events: AgentEvent[] = [];
    const gate = gateInto(events, { silenceMs: 30 });
    gate.signOfLife('x');
    expect(events).toEqual([]);
    await delay(40);
    gate.signOfLife('item/reasoning/textDelta');
    gate.signOfLife('item/reasoning/textDelta');
    expect(events).toEqual([{ type: 'notice', text: 'codex is still at work (item/reasoning/textDelta)' }]);
  });

  it('lets nothing through once it is closed', async () => {
    const events: AgentEvent[] = [];
    const gate = gateInto(events, { silenceMs: 0 });
    gate.emit({ type: 'message', text: 'a' });
    gate.close();
    gate.emit({ type: 'message', text: 'b' });
    gate.emit({ type: 'notice', text: 'c' });
    gate.signOfLife('d');
    await delay(120);
    expect(events).toEqual([{ type: 'message', text: 'a' }]);
  });
});
