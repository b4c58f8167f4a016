import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AgentEvent } from '../../domain/model/agent-event.ts';
import { createEventGate } from './event-gate.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function collect(clean = (text: string): string => text) {
  const events: AgentEvent[] = [];
  const gate = createEventGate((event) => events.push(event), clean);
  const textsOf = (type: 'message' | 'notice'): string[] => events.flatMap((event) => (event.type === type ? [event.text] : []));
  return { events, gate, textsOf };
}

describe('the event gate', () => {
  it('passes ordinary events at once and in order', () => {
    const { events, gate } = collect();
    gate.emit({ type: 'message', text: 'a' });
    gate.toolStarted('t1', 'Bash');
    gate.emit({ type: 'message', text: 'b' });
    gate.toolEnded('t1', 'Bash', true);
    gate.emit({ type: 'notice', text: 'n' });
    expect(events.map((event) => event.type)).toEqual(['message', 'tool_started', 'message', 'tool_ended', 'notice']);
  });

  it('thins out a flood of messages, but loses neither the first nor the last', () => {
    const { gate, textsOf } = collect();
    for (let ms = 0; ms < 3000; ms += 1) {
      gate.emit({ type: 'message', text: `text ${ms}` });
      vi.advanceTimersByTime(1);
    }
    gate.close();
    const texts = textsOf('message');
    expect(texts[0]).toBe('text 0');
    expect(texts.at(-1)).toBe('text 2999');
    expect(texts.length).toBeGreaterThan(20);
    expect(texts.length).toBeLessThan(40);
  });

  it('shows the last message of a burst soon after it', () => {
    const { gate, textsOf } = collect();
    for (let i = 0; i < 100; i += 1) gate.emit({ type: 'message', text: `text ${i}` });
    expect(textsOf('message')).not.toContain('text 99');
    vi.advanceTimersByTime(200);
    expect(textsOf('message').at(-1)).toBe('text 99');
    gate.close();
    expect(textsOf('message').filter((text) => text === 'text 99')).toHaveLength(1);
  });

  it('says how many tool calls and notices it left out', () => {
    const { events, gate, textsOf } = collect();
    const shown = Array.from({ length: 500 }, (_, i) => gate.toolStarted(`t${i}`, 'Bash'));
    for (let i = 0; i < 500; i += 1) gate.emit({ type: 'notice', text: `n${i}` });
    gate.close();
    const passed = shown.filter(Boolean).length;
    expect(passed).toBe(50);
    expect(events.filter((event) => event.type === 'tool_started')).toHaveLength(passed);
    expect(textsOf('notice').slice(-2)).toEqual(['450 more tool calls are not shown', '480 more notices are not shown']);
  });

  it('cuts long texts to 4 KiB without half a character', () => {
    const { gate, textsOf } = collect();
    for (const shift of ['', 'x', 'xx', 'xxx']) gate.emit({ type: 'message', text: shift + '𝄞é'.repeat(3000) });
    for (const text of textsOf('message')) {
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
      expect(Buffer.byteLength(text)).toBeGreaterThan(4080);
      expect(text).toMatch(/^x*(?:𝄞é)+𝄞?…$/u);
    }
  });

  it('cleans before it cuts', () => {
    const { gate, textsOf } = collect((text) => text.replaceAll('hush-hush', '***'));
    gate.emit({ type: 'message', text: `${'x'.repeat(4090)}hush-hush` });
    gate.emit({ type: 'notice', text: 'hush-hush' });
    expect(textsOf('message')[0]).not.toContain('hush');
    expect(textsOf('notice')).toEqual(['***']);
  });

  it('passes nothing after it was closed', () => {
    const { events, gate } = collect();
    for (let i = 0; i < 20; i += 1) gate.emit({ type: 'message', text: 'x' });
    gate.close();
    const count = events.length;
    gate.emit({ type: 'message', text: 'late' });
    gate.emit({ type: 'session_started', sessionId: 'late' });
    gate.toolEnded('t', 'Bash', true);
    vi.advanceTimersByTime(10_000);
    gate.close();
    expect(events).toHaveLength(count);
  });
});
