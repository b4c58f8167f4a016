import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NO_TOKENS, type AgentEvent } from '../../domain/model/agent-event.ts';
import { heldMb } from '../../../test/support/held-memory.ts';
import { processorMs } from '../../../test/support/processor-time.ts';
import { createMask } from '../../lib/http/index.ts';
import { createEventStream } from './event-stream.ts';

const TOKEN = 'ghp_Zq8vT3xWm2LpR7yKc5NbD9sHfJ1aUeG4oQiV';

function streamOf(...secrets: string[]) {
  const events: AgentEvent[] = [];
  const mask = createMask(secrets);
  const stream = createEventStream({ onEvent: (event) => events.push(event), mask, aliveMs: 5_000 });
  const texts = () => events.flatMap((event) => (event.type === 'message' ? [event.text] : []));
  const notices = () => events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
  return { stream, events, texts, notices };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('what the model says', () => {
  it('is joined from its pieces and shown at the end of the message', () => {
    const { stream, texts } = streamOf();
    for (const piece of ['I ', 'will', ' do', ' it.']) stream.messagePart(piece);
    expect(texts()).toEqual([]);
    stream.endMessage();
    expect(texts()).toEqual(['I will do it.']);
  });

  it('is shown twice a second while it comes, cut between words', () => {
    const { stream, texts } = streamOf();
    for (let word = 0; word < 40; word += 1) {
      stream.messagePart(`word${word} `);
      vi.advanceTimersByTime(50);
    }
    stream.close();
    expect(texts().length).toBeLessThanOrEqual(6);
    expect(texts().join(' ').split(' ')).toEqual(Array.from({ length: 40 }, (_none, word) => `word${word}`));
  });

  it('is shown whole when the stream pauses', () => {
    const { stream, texts } = streamOf();
    stream.messagePart('DONE: nothing to do');
    vi.advanceTimersByTime(1_000);
    expect(texts()).toEqual(['DONE: nothing to do']);
  });

  it('is shown also where words are not set apart', () => {
    const { stream, texts } = streamOf();
    for (let piece = 0; piece < 30; piece += 1) {
      stream.messagePart('漢'.repeat(50));
      vi.advanceTimersByTime(50);
    }
    expect(texts().length).toBeGreaterThan(0);
  });

  it('comes before the tool call that follows it', () => {
    const { stream, events } = streamOf();
    stream.messagePart('now I write');
    stream.toolStarted({ id: '1', name: 'write' });
    expect(events.map(({ type }) => type)).toEqual(['message', 'tool_started']);
  });

  it('is at most some ten events a second of at most 4 KiB, and the first and the last are shown', () => {
    const { stream, texts } = streamOf();
    for (let message = 0; message < 10_000; message += 1) {
      stream.messagePart(`message ${message} ${'x'.repeat(10_000)}`);
      stream.endMessage();
      vi.advanceTimersByTime(1);
    }
    stream.messagePart('the last');
    stream.close();
    expect(texts().length).toBeLessThanOrEqual(10 * 10 + 20);
    expect(texts()[0]).toMatch(/^message 0 /);
    expect(texts().at(-1)).toMatch(/the last$/);
    for (const text of texts()) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
  });

  it('is told in several events where it does not fit into one, and nothing is lost', () => {
    const { stream, texts } = streamOf();
    const words = Array.from({ length: 1_500 }, (_none, word) => `wörd${word}`).join(' ');
    stream.messagePart(words);
    stream.endMessage();
    expect(texts().length).toBe(4);
    expect(texts().join(' ')).toBe(words);
  });

  it.each(['\uFFFD', '\uD83D', '\u{1F600}'])('is told in several events also where it is %j alone', (character) => {
    const { stream, texts } = streamOf();
    stream.messagePart(character.repeat(3_000));
    stream.close();
    expect(texts().join('')).toBe(character.toWellFormed().repeat(3_000));
    expect(Math.max(...texts().map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(4_096);
  });

  it('is shown from its last words on where it is longer than what is kept', () => {
    const { stream, texts } = streamOf();
    stream.messagePart('early ');
    stream.messagePart(`${'x'.repeat(100_000)} ${'last words '.repeat(1_500)}`);
    stream.endMessage();
    stream.close();
    expect(texts()[0]).toMatch(/^…/);
    expect(texts().join(' ')).not.toContain('early');
    expect(texts().join('').replaceAll(/\s/g, '').length).toBeLessThanOrEqual(16_385);
    expect(texts().at(-1)).toMatch(/last words$/);
  });

  it('and what tools say holds no more memory than what is shown of it', async () => {
    const { stream, events } = streamOf();
    const before = await heldMb();
    for (let turn = 0; turn < 300; turn += 1) {
      stream.message(`${turn}`.padEnd(10_000, 'said '));
      stream.toolStarted({ id: `${turn}`, name: 'Bash', input: `${turn}`.padEnd(200_000, 'y') });
      stream.toolEnded({ id: `${turn}`, ok: true, output: `${turn}`.padEnd(200_000, 'z') });
      vi.advanceTimersByTime(1_000);
    }
    expect(events.length).toBeGreaterThan(1_000);
    expect((await heldMb()) - before).toBeLessThan(10);
  });

  it('has its secrets taken out, also where one came in two pieces', () => {
    const { stream, texts } = streamOf('topsecret');
    stream.messagePart('the key is top');
    vi.advanceTimersByTime(499);
    stream.messagePart('sec');
    vi.advanceTimersByTime(1);
    stream.messagePart('ret, see?');
    stream.close();
    expect(texts().join(' ')).toBe('the key is [redacted], see?');
  });

  it.each([
    ['after a pause', 12, 1_500],
    ['after a pause at its very beginning', 2, 1_500],
    ['in time', 12, 100],
  ])('has no part of a secret in it whose rest comes %s', (_name, at, ms) => {
    const { stream, texts } = streamOf(TOKEN);
    stream.messagePart(`tok ${TOKEN.slice(0, at)}`);
    vi.advanceTimersByTime(ms);
    stream.messagePart(`${TOKEN.slice(at)} ok`);
    stream.close();
    expect(texts().join(' ')).toMatch(/^tok (gh )?\[redacted\] ok$/);
  });

  it('shows what looked like a secret when it is none', () => {
    const { stream, texts } = streamOf(TOKEN);
    stream.messagePart('they begin with ghp_');
    vi.advanceTimersByTime(1_500);
    expect(texts()).toEqual(['they begin with']);
    stream.endMessage();
    expect(texts()).toEqual(['they begin with', 'ghp_']);
  });

  it('tears no secret in two, wherever it stands in a text without blanks', () => {
    for (let before = 4_040; before < 4_100; before += 1) {
      const { stream, texts } = streamOf(TOKEN);
      stream.messagePart('y'.repeat(before) + TOKEN + 'z'.repeat(100));
      stream.close();
      expect(texts().join('')).toBe(`${'y'.repeat(before)}[redacted]${'z'.repeat(100)}`);
    }
  });

  it('has no rest of a secret in it where its beginning was left out', () => {
    const { stream, texts } = streamOf(TOKEN);
    stream.messagePart('y'.repeat(40_000) + TOKEN + 'z'.repeat(16_384 - 20));
    stream.close();
    expect(texts().join('')).toBe(`…[redacted]${'z'.repeat(16_384 - 20)}`);
  });

  it('costs little however much comes', () => {
    const { stream, texts } = streamOf(TOKEN, 'sk-ant-SECRETKEY-0123456789abcdefghijklmnop');
    const piece = `${'x'.repeat(500)}ghp_`;
    const spent = processorMs(() => {
      for (let count = 0; count < 80_000; count += 1) {
        stream.messagePart(piece);
        if (count % 100 === 0) vi.advanceTimersByTime(20);
      }
    });
    stream.close();
    expect(texts().length).toBeGreaterThan(10);
    expect(spent).toBeLessThan(2_000);
  });

  it.each(['', ' \n', '\u200b', '\u2060 \ufeff', '\u00ad\ufe0f'])('is nothing where it has no letter (%j)', (text) => {
    const { stream, texts } = streamOf();
    stream.message(text);
    stream.close();
    expect(texts()).toEqual([]);
  });

  it('loses no word as long as it fits', () => {
    const piece = fc.record({ text: fc.stringMatching(/^[a-z ]{0,20}$/), ms: fc.nat(600), isEnd: fc.boolean() });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const { stream, texts } = streamOf();
        for (const { text, ms, isEnd } of pieces) {
          stream.messagePart(text);
          if (isEnd) stream.endMessage();
          vi.advanceTimersByTime(ms);
        }
        stream.close();
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

describe('the stream', () => {
  it('lets nothing pass once it is closed', () => {
    const { stream, events } = streamOf();
    stream.close();
    stream.messagePart('late');
    stream.endMessage();
    stream.notice('late');
    stream.sessionStarted('s', null);
    stream.toolEnded({ id: '1', ok: true });
    stream.close();
    vi.advanceTimersByTime(10_000);
    expect(events).toEqual([]);
  });

  it.each(['x', 'é', '💥'])('cuts a long notice of %s between two characters', (character) => {
    const { stream, notices } = streamOf();
    stream.notice(character.repeat(4_090));
    stream.notice(`x${character.repeat(8_000)}`);
    for (const text of notices()) {
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096);
      expect(text).not.toContain('\ufffd');
    }
    expect(notices().at(-1)).toMatch(/…$/);
  });

  it('bounds notices and says how many it left out', () => {
    const { stream, notices } = streamOf();
    for (let number = 0; number < 1_000; number += 1) stream.notice(`notice ${number}`);
    stream.close();
    expect(notices()).toHaveLength(21);
    expect(notices().at(-1)).toBe('980 more notices are not shown');
  });

  it('passes a sign of life on only after a silence', () => {
    const { stream, events } = streamOf();
    for (let second = 0; second < 60; second += 1) {
      stream.alive();
      vi.advanceTimersByTime(1_000);
    }
    expect(events.map(({ type }) => type)).toEqual(Array.from({ length: 11 }, () => 'alive'));
  });

  it('holds back figures that come too fast and shows the last ones', () => {
    const { stream, events } = streamOf();
    const figures = (inputTokens: number) => ({ inputTokens, outputTokens: 0, totalTokens: inputTokens, cacheReadTokens: 0 });
    for (let count = 1; count <= 1_000; count += 1) stream.usage({ type: 'usage', tokens: figures(count) });
    stream.close();
    expect(events).toHaveLength(6);
    expect(events.at(-1)).toEqual({ type: 'usage', tokens: figures(1_000) });
  });
});

describe('the models that figures name', () => {
  const modelsIn = (secret: string, requestsByModel: Readonly<Record<string, number>>): unknown => {
    const { stream, events } = streamOf(secret);
    stream.usage({ type: 'usage', tokens: NO_TOKENS, requestsByModel });
    const [event] = events;
    return event?.type === 'usage' ? event.requestsByModel : null;
  };

  it('are shown without secrets, and those that look the same then as one', () => {
    const told = { 'opus topsecret': 1, opus: 2, topsecret: 3, 'top\u001b[1msecret': 4 };
    expect(modelsIn('topsecret', told)).toEqual({ 'opus [redacted]': 1, opus: 2, '[redacted]': 7 });
  });

  it('are cut where they are too long, and left out where nothing is left of them', () => {
    expect(modelsIn('topsecret', { ['m'.repeat(300)]: 1, '\n': 2 })).toEqual({ [`${'m'.repeat(199)}…`]: 1 });
  });
});

describe('tool calls', () => {
  it('tell what was called and what came back', () => {
    const { stream, events } = streamOf('hush-hush');
    stream.toolStarted({ id: 'a', name: 'Bash', input: { command: 'npm test\n --token hush-hush', timeout: 5 } });
    stream.toolEnded({ id: 'a', ok: false, output: [{ type: 'text', text: 'one\ntwo hush-hush\n' }], durationMs: 7 });
    expect(events).toEqual([
      { type: 'tool_started', toolId: 'a', name: 'Bash', input: 'npm test --token [redacted]' },
      { type: 'tool_ended', toolId: 'a', name: 'Bash', ok: false, output: 'one\ntwo [redacted]', durationMs: 7 },
    ]);
  });

  it('show no secret in what the agent calls them or its model', () => {
    const { stream, events } = streamOf(TOKEN);
    stream.sessionStarted('s-1', `model-${TOKEN}`);
    stream.toolStarted({ id: `call-${TOKEN}`, name: TOKEN });
    stream.toolEnded({ id: `call-${TOKEN}`, ok: true });
    stream.toolStarted({ id: `next-${TOKEN}`, name: 'Bash' });
    stream.close();
    expect(JSON.stringify(events)).not.toContain(TOKEN);
    expect(events.map(({ type }) => type)).toEqual([
      'session_started',
      'tool_started',
      'tool_ended',
      'tool_started',
      'tool_ended',
    ]);
  });

  it('show no secret that is coloured inside', () => {
    const { stream, events } = streamOf(TOKEN);
    const coloured = `\u001b[01;31m\u001b[K${TOKEN.slice(0, 8)}\u001b[m\u001b[K${TOKEN.slice(8)}`;
    stream.toolStarted({ id: 'a', name: coloured, input: coloured });
    stream.toolEnded({ id: 'a', ok: true, output: `found ${coloured} here` });
    stream.notice(coloured);
    expect(events).toMatchObject([
      { name: '[redacted]', input: '[redacted]' },
      { output: 'found [redacted] here' },
      { text: '[redacted]' },
    ]);
  });

  it('show no part of a secret, wherever they are cut', () => {
    const secret = /[A-Za-z0-9]{4}/;
    for (let at = 1; at < TOKEN.length + 12; at += 1) {
      const { stream, events } = streamOf(TOKEN);
      const coloured = TOKEN.replace('xWm', 'x\u001b[31mWm');
      stream.toolStarted({ id: 'a', name: 'n', input: `${' '.repeat(1_000 - at)}${TOKEN}` });
      stream.toolEnded({ id: 'a', ok: true, output: coloured + '\u001b[31m.\u001b[0m'.repeat(399) + '-'.repeat(at) });
      const shown = events.flatMap((event) => ('input' in event ? [event.input] : 'output' in event ? [event.output] : []));
      expect(shown.join('').replaceAll('redacted', '')).not.toMatch(secret);
    }
  });

  it('begin and end once each, and those without an end end with the turn', () => {
    const { stream, events } = streamOf();
    for (const id of ['a', 'a', 'b']) stream.toolStarted({ id, name: 'read' });
    for (const ok of [true, false]) stream.toolEnded({ id: 'a', ok });
    stream.toolEnded({ id: 'never begun', ok: true });
    stream.close();
    expect(events).toEqual([
      { type: 'tool_started', toolId: 'a', name: 'read' },
      { type: 'tool_started', toolId: 'b', name: 'read' },
      { type: 'tool_ended', toolId: 'a', name: 'read', ok: true },
      { type: 'tool_ended', toolId: 'b', name: 'read', ok: false },
    ]);
  });

  it('tell what was called at their end where it was not known before', () => {
    const { stream, events } = streamOf();
    stream.toolStarted({ id: 'a', name: 'read', input: {} });
    stream.toolEnded({ id: 'a', ok: true, input: { file_path: '/src/a.ts' } });
    expect(events.at(-1)).toMatchObject({ type: 'tool_ended', input: '/src/a.ts' });
  });

  it.each([
    ['a command', { command: ['git', 'status'] }, 'git status'],
    ['a file', { content: 'long', file_path: '/a.ts' }, '/a.ts'],
    ['a query', { query: 'how to' }, 'how to'],
    ['anything else', { depth: 2 }, '{"depth":2}'],
    ['a text', 'plain', 'plain'],
    ['a long text', 'x'.repeat(900), `${'x'.repeat(499)}…`],
  ])('show %s on one line', (_name, input, shown) => {
    const { stream, events } = streamOf();
    stream.toolStarted({ id: 'a', name: 'n', input });
    expect(events).toEqual([{ type: 'tool_started', toolId: 'a', name: 'n', input: shown }]);
  });

  it.each([
    ['lists', '['.repeat(200_000) + ']'.repeat(200_000)],
    ['objects', `${'{"content":'.repeat(200_000)}1${'}'.repeat(200_000)}`],
  ])('survive %s that are nested without end', (_name, text) => {
    const { stream, events } = streamOf();
    const nested: unknown = JSON.parse(text);
    stream.toolStarted({ id: 'a', name: 'n', input: nested });
    stream.toolEnded({ id: 'a', ok: true, output: nested });
    expect(events[0]).toMatchObject({ type: 'tool_started', input: '(nested too deep to be shown)' });
    expect(events[1]).toMatchObject({ type: 'tool_ended', ok: true });
  });

  it('show the last lines of a long result, without control characters', () => {
    const { stream, events } = streamOf();
    stream.toolStarted({ id: 'a', name: 'n' });
    const output = Array.from({ length: 100 }, (_, line) => `\u001b[31mline ${line}\u001b[0m`).join('\n');
    stream.toolEnded({ id: 'a', ok: true, output });
    const last = events.at(-1);
    expect(last?.type === 'tool_ended' && last.output).toBe(Array.from({ length: 20 }, (_, n) => `line ${80 + n}`).join('\n'));
  });

  it('are bounded, and no end is shown without its beginning', () => {
    const { stream, events, notices } = streamOf();
    for (let call = 0; call < 20_000; call += 1) {
      stream.toolStarted({ id: `${call}`, name: 'x'.repeat(5_000), input: 'y'.repeat(5_000) });
      stream.toolEnded({ id: `${call}`, ok: true, output: 'z'.repeat(5_000) });
    }
    stream.close();
    const count = (type: string) => events.filter((event) => event.type === type).length;
    expect(count('tool_started')).toBe(50);
    expect(count('tool_ended')).toBe(50);
    expect(notices()).toEqual(['19950 more tool calls are not shown']);
  });

  it('are shown late where one goes on for which there was no room, with its end', () => {
    const { stream, events, notices } = streamOf();
    for (let call = 0; call < 60; call += 1) {
      stream.toolStarted({ id: `${call}`, name: 'look' });
      stream.toolEnded({ id: `${call}`, ok: true });
    }
    stream.toolStarted({ id: 'long', name: 'npm test', input: 'all' });
    stream.toolStarted({ id: 'long', name: 'npm test', input: 'all' });
    expect(events).toHaveLength(100);
    vi.advanceTimersByTime(200);
    stream.toolEnded({ id: 'long', ok: true });
    stream.close();
    vi.advanceTimersByTime(200);
    expect(events.slice(100)).toEqual([
      { type: 'tool_started', toolId: 'long', name: 'npm test', input: 'all' },
      { type: 'tool_ended', toolId: 'long', name: 'npm test', ok: true },
      { type: 'notice', text: '10 more tool calls are not shown' },
    ]);
    expect(notices()).toHaveLength(1);
  });
});
