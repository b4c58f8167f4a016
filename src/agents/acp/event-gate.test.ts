import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AgentEvent } from '../../domain/model/agent-event.ts';
import { createEventGate } from './event-gate.ts';
import { createToolCalls } from './tool-calls.ts';

function gateOf(clean = (text: string) => text) {
  const events: AgentEvent[] = [];
  const gate = createEventGate({ onEvent: (event) => events.push(event), clean });
  const texts = () => events.flatMap((event) => (event.type === 'message' ? [event.text] : []));
  const notices = () => events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
  return { gate, events, texts, notices };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('what the model says', () => {
  it('is joined from its pieces and shown at the end of the message', () => {
    const { gate, texts } = gateOf();
    for (const piece of ['I ', 'will', ' do', ' it.']) gate.say(piece);
    expect(texts()).toEqual([]);
    gate.endMessage();
    expect(texts()).toEqual(['I will do it.']);
  });

  it('is shown twice a second while it comes, cut between words', () => {
    const { gate, texts } = gateOf();
    for (let word = 0; word < 40; word += 1) {
      gate.say(`word${word} `);
      vi.advanceTimersByTime(50);
    }
    gate.close();
    expect(texts().length).toBeLessThanOrEqual(6);
    expect(texts().join(' ').split(' ')).toEqual(Array.from({ length: 40 }, (_none, word) => `word${word}`));
  });

  it('is shown whole when the stream pauses', () => {
    const { gate, texts } = gateOf();
    gate.say('DONE: nothing to do');
    vi.advanceTimersByTime(1_000);
    expect(texts()).toEqual(['DONE: nothing to do']);
  });

  it('is shown also where words are not set apart', () => {
    const { gate, texts } = gateOf();
    for (let piece = 0; piece < 30; piece += 1) {
      gate.say('漢'.repeat(50));
      vi.advanceTimersByTime(50);
    }
    expect(texts().length).toBeGreaterThan(0);
  });

  it('comes before the tool call that follows it', () => {
    const { gate, events } = gateOf();
    gate.say('now I write');
    gate.toolStarted('1', 'write');
    expect(events.map(({ type }) => type)).toEqual(['message', 'tool_started']);
  });

  it('is at most some ten events a second of at most 4 KiB, and the first and the last are shown', () => {
    const { gate, texts } = gateOf();
    for (let message = 0; message < 10_000; message += 1) {
      gate.say(`message ${message} ${'x'.repeat(10_000)}`);
      gate.endMessage();
      vi.advanceTimersByTime(1);
    }
    gate.say('the last');
    gate.close();
    expect(texts().length).toBeLessThanOrEqual(10 * 10 + 20);
    expect(texts()[0]).toMatch(/^message 0 /);
    expect(texts().at(-1)).toMatch(/the last$/);
    for (const text of texts()) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
  });

  it('is told in several events where it does not fit into one, and nothing is lost', () => {
    const { gate, texts } = gateOf();
    const words = Array.from({ length: 1_500 }, (_none, word) => `wörd${word}`).join(' ');
    gate.say(words);
    gate.endMessage();
    expect(texts().length).toBe(4);
    expect(texts().join(' ')).toBe(words);
  });

  it('has its secrets taken out, also where one came in two pieces', () => {
    const { gate, texts } = gateOf((text) => text.replaceAll('topsecret', '***'));
    gate.say('the key is top');
    vi.advanceTimersByTime(499);
    gate.say('sec');
    vi.advanceTimersByTime(1);
    gate.say('ret, see?');
    gate.close();
    expect(texts().join(' ')).toBe('the key is ***, see?');
  });

  it('loses no word as long as it fits', () => {
    const piece = fc.record({ text: fc.stringMatching(/^[a-z ]{0,20}$/), ms: fc.nat(600), isEnd: fc.boolean() });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const { gate, texts } = gateOf();
        for (const { text, ms, isEnd } of pieces) {
          gate.say(text);
          if (isEnd) gate.endMessage();
          vi.advanceTimersByTime(ms);
        }
        gate.close();
        const said = pieces
          .map(({ text }) => text)
          .join('')
          .replaceAll(' ', '');
        expect(texts().join('').replaceAll(/\s/g, '')).toBe(said);
      }),
      { numRuns: 60 },
    );
  });
});

describe('the gate', () => {
  it('lets nothing pass once it is closed', () => {
    const { gate, events } = gateOf();
    gate.close();
    gate.say('late');
    gate.endMessage();
    gate.notice('late');
    gate.sessionStarted('s', undefined);
    gate.toolEnded('1', 'x', true);
    gate.close();
    vi.advanceTimersByTime(10_000);
    expect(events).toEqual([]);
  });

  it('bounds notices and says how many it left out', () => {
    const { gate, notices } = gateOf();
    for (let number = 0; number < 1_000; number += 1) gate.notice(`notice ${number}`);
    gate.close();
    expect(notices()).toHaveLength(21);
    expect(notices().at(-1)).toBe('980 more notices are not shown');
  });

  it('shows a sign of life only after five seconds without any other event', () => {
    const { gate, notices } = gateOf();
    for (let second = 0; second < 60; second += 1) {
      gate.pulse('thinking');
      vi.advanceTimersByTime(1_000);
    }
    expect(notices().length).toBe(11);
  });

  it('holds back figures that come too fast and shows the last ones', () => {
    const { gate, events } = gateOf();
    const figures = (inputTokens: number) => ({ inputTokens, outputTokens: 0, totalTokens: inputTokens, cacheReadTokens: 0 });
    for (let count = 1; count <= 1_000; count += 1) gate.usage({ type: 'usage', tokens: figures(count) });
    gate.close();
    expect(events).toHaveLength(6);
    expect(events.at(-1)).toEqual({ type: 'usage', tokens: figures(1_000) });
  });
});

describe('tool calls', () => {
  it('begin and end once each, also those that are first heard of at their end', () => {
    const { gate, events } = gateOf();
    const calls = createToolCalls(gate);
    calls.saw({ toolCallId: 'a', title: 'read' });
    for (const status of ['in_progress', 'completed', 'completed', 'failed']) calls.saw({ toolCallId: 'a', status });
    calls.saw({ toolCallId: 'b', kind: 'edit', status: 'failed' });
    expect(events).toEqual([
      { type: 'tool_started', toolId: 'a', name: 'read' },
      { type: 'tool_ended', toolId: 'a', name: 'read', ok: true },
      { type: 'tool_started', toolId: 'b', name: 'edit' },
      { type: 'tool_ended', toolId: 'b', name: 'edit', ok: false },
    ]);
  });

  it.each([
    ['its name', { name: 'exec', title: 'Run it', kind: 'execute' }, 'exec'],
    ["Claude's name", { _meta: { claudeCode: { toolName: 'Bash' } }, title: 'Run it' }, 'Bash'],
    ['its title', { title: 'Run\n  it', kind: 'execute' }, 'Run it'],
    ['its kind', { title: ' ', kind: 'execute' }, 'execute'],
    ['nothing', {}, 'tool'],
  ])('are called by %s', (_name, call, shown) => {
    const { gate, events } = gateOf();
    createToolCalls(gate).saw({ toolCallId: 'a', ...call });
    expect(events).toEqual([{ type: 'tool_started', toolId: 'a', name: shown }]);
  });

  it('end when they are refused, and stay ended', () => {
    const { gate, events } = gateOf();
    const calls = createToolCalls(gate);
    calls.refused({ toolCallId: 'a', title: 'write' });
    calls.saw({ toolCallId: 'a', status: 'failed' });
    expect(events.map(({ type }) => type)).toEqual(['tool_started', 'tool_ended']);
  });

  it('are bounded, and no end is shown without its beginning', () => {
    const { gate, events, notices } = gateOf();
    const calls = createToolCalls(gate);
    for (let call = 0; call < 20_000; call += 1)
      calls.saw({ toolCallId: `${call}`, title: 'x'.repeat(5_000), status: 'completed' });
    gate.close();
    const count = (type: string) => events.filter((event) => event.type === type).length;
    expect(count('tool_started')).toBe(50);
    expect(count('tool_ended')).toBe(50);
    expect(notices()).toEqual(['4950 more tool calls are not shown']);
  });
});
