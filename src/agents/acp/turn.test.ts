import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../domain/model/agent-event.ts';
import { createJsonRpcPeer } from '../../lib/json-rpc/index.ts';
import { createMask } from '../../lib/http/index.ts';
import { createEventStream } from '../shared/event-stream.ts';
import { judge } from './judge.ts';
import { waysOf } from './known-agents.ts';
import { createListener } from './listener.ts';
import { promptResult } from './parse.ts';
import { FAILED_AS_SUCCESS, WORKED, type Recording } from '../../../test/support/acp/recordings.ts';
import { createTurnReader } from './turn-reader.ts';
import { createUsage } from './usage.ts';

const SESSION = 'session-1';

/** Plays lines of one turn as they would come from a process, then its result. */
function play(agent: string, lines: readonly string[], result: unknown, mayReplay = false) {
  const events: AgentEvent[] = [];
  const ways = waysOf(agent);
  const usage = createUsage({ covers: ways, costBefore: 0 });
  const stream = createEventStream({ onEvent: (event) => events.push(event), mask: createMask([]), aliveMs: 60_000 });
  const reader = createTurnReader({ events: stream, usage, ways, mayReplay });
  const listener = createListener('allow');
  const peer = createJsonRpcPeer({ ...listener, envelope: 'jsonrpc', send: () => {} });
  listener.beginTurn({ sessionId: SESSION, reader, events: stream, onNeedsPerson: () => {} });
  for (const line of lines) peer.receive(line);
  const read = promptResult.parse(result);
  usage.turnEnded(read);
  const news = usage.news();
  if (news) stream.usage(news);
  stream.close();
  const last = events.filter((event) => event.type === 'usage').at(-1);
  return { events, verdict: judge(read.stopReason, reader.facts(), { now: 0, changedBefore: false }), usage: last };
}

function linesOf({ updates }: Recording, sessionId = SESSION): string[] {
  return updates.map((update) => JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } }));
}

describe('a tool call', () => {
  const play1 = (...updates: Readonly<Record<string, unknown>>[]) =>
    play('a', linesOf({ agent: '', updates, result: {} }), { stopReason: 'end_turn' }).events.filter(({ type }) =>
      type.startsWith('tool'),
    );

  it('tells what was called and what came back, as far as it is known by then', () => {
    const call = {
      sessionUpdate: 'tool_call',
      toolCallId: 'a',
      title: 'Run tests',
      kind: 'execute',
      status: 'pending',
      rawInput: {},
    };
    const known = { sessionUpdate: 'tool_call_update', toolCallId: 'a', rawInput: { command: 'npm test' } };
    const content = [{ type: 'content', content: { type: 'text', text: '1 failed' } }];
    const ended = { sessionUpdate: 'tool_call_update', toolCallId: 'a', status: 'failed', content };
    expect(play1(call, known, ended, ended)).toEqual([
      { type: 'tool_started', toolId: 'a', name: 'Run tests', input: 'npm test' },
      { type: 'tool_ended', toolId: 'a', name: 'Run tests', ok: false, output: '1 failed' },
    ]);
  });

  it('is told with its next word when the model had only begun to write it, and at once where no more is promised', () => {
    const begun = { sessionUpdate: 'tool_call', toolCallId: 'a', title: 'write', status: 'pending', rawInput: {} };
    expect(play1(begun)).toEqual([]);
    const running = { sessionUpdate: 'tool_call_update', toolCallId: 'a', rawInput: { filePath: 'a.ts' } };
    expect(play1(begun, running)[0]).toEqual({ type: 'tool_started', toolId: 'a', name: 'write', input: 'a.ts' });
    const { rawInput: _none, ...bare } = begun;
    expect(play1(bare)[0]).toMatchObject({ type: 'tool_started', name: 'write' });
  });

  it.each([
    ['its name', { name: 'exec', title: 'Run it', kind: 'execute' }, 'exec'],
    ["Claude's name", { _meta: { claudeCode: { toolName: 'Bash' } }, title: 'Run it' }, 'Bash'],
    ['its title', { title: 'Run\n  it', kind: 'execute' }, 'Run it'],
    ['its kind', { title: ' ', kind: 'execute' }, 'execute'],
    ['nothing', {}, 'tool'],
  ])('is called by %s', (_name, fields, name) => {
    expect(play1({ sessionUpdate: 'tool_call', toolCallId: 'a', ...fields })[0]).toMatchObject({ type: 'tool_started', name });
  });

  it('names the file it works on where it tells nothing else', () => {
    const locations = [{ path: '/src/a.ts', line: 3 }];
    expect(play1({ sessionUpdate: 'tool_call', toolCallId: 'a', title: 'Read', locations })[0]).toMatchObject({
      input: '/src/a.ts',
    });
  });
});

describe('a question at the end', () => {
  const said = (text: string) => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  const call = (kind: string) => ({ sessionUpdate: 'tool_call', toolCallId: kind, title: kind, kind, status: 'completed' });
  it.each([
    ['nothing else', [said('Which of them?')], 'agent_needs_person'],
    ['a look around', [call('read'), said('Which of '), said('them?')], 'agent_needs_person'],
    ['an edit', [call('edit'), said('Shall I go on?')], 'ok'],
    ['an answer', [said('Which? I took the first.')], 'ok'],
  ])('with %s before it', (_name, updates, kind) => {
    const { verdict } = play('a', linesOf({ agent: '', updates, result: {} }), { stopReason: 'end_turn' });
    expect(verdict.ok ? 'ok' : verdict.error.kind).toBe(kind);
  });
});

const shown = (events: readonly AgentEvent[]): string[] =>
  events.flatMap((event) => {
    if (event.type === 'message') return [`said ${event.text}`];
    if (event.type === 'tool_started') return [`started ${event.name}`];
    return event.type === 'tool_ended' ? [`${event.ok ? 'ended' : 'failed'} ${event.name}`] : [];
  });

describe('a recorded turn', () => {
  it.each([
    ['claude', ['said I will write the file.', 'started Write', 'ended Write', 'said DONE: wrote hello.txt']],
    ['codex', ['started exec_command', 'ended exec_command', 'said DONE: wrote hello.txt']],
    ['copilot', ['started write file', 'ended write file', 'said DONE: wrote hello.txt']],
    ['gemini', ['started Writing to hello.txt', 'ended Writing to hello.txt', 'said DONE: wrote hello.txt']],
    ['opencode', ['started write', 'ended write', 'said DONE: wrote hello.txt']],
  ] as const)('of %s is told in order and counts', (name, expected) => {
    const recording = WORKED[name];
    const { events, verdict } = play(recording.agent, linesOf(recording), recording.result);
    expect(shown(events)).toEqual(expected);
    expect(verdict).toEqual({ ok: true });
  });

  it.each([
    ['claude', { inputTokens: 3006, outputTokens: 50, totalTokens: 3056, cacheReadTokens: 600 }, 0.01408],
    ['codex', { inputTokens: 2468, outputTokens: 112, totalTokens: 2580, cacheReadTokens: 400 }, undefined],
    ['copilot', { inputTokens: 2468, outputTokens: 112, totalTokens: 2580, cacheReadTokens: 400 }, undefined],
    ['gemini', { inputTokens: 2468, outputTokens: 112, totalTokens: 2580, cacheReadTokens: 0 }, undefined],
    ['opencode', { inputTokens: 1234, outputTokens: 56, totalTokens: 1290, cacheReadTokens: 200 }, 0.002332],
  ] as const)('of %s counts cached input once', (name, tokens, costUsd) => {
    const recording = WORKED[name];
    const { usage } = play(recording.agent, linesOf(recording), recording.result);
    expect(usage).toMatchObject({ tokens });
    expect(usage?.costUsd).toBe(costUsd);
  });

  it.each([
    ['codex, a limit', 'agent_usage_limit', '429 Too Many Requests'],
    ['codex, a fault after a tool call', 'turn_failed', 'high demand'],
    ['copilot, a wrong key', 'agent_not_logged_in', 'COPILOT_PROVIDER_API_KEY'],
    ['copilot, a fault after a tool call', 'turn_failed', 'Last error: 500'],
    ['an unknown agent, an error as its only text', 'turn_failed', 'API Error: 500 internal server error'],
  ] as const)('that failed is no success: %s', (name, kind, why) => {
    const recording = FAILED_AS_SUCCESS[name];
    const { verdict } = play(recording.agent, linesOf(recording), recording.result);
    expect(verdict).toMatchObject({ ok: false, error: { kind, message: expect.stringContaining(why) as unknown } });
  });

  it('counts when the agent got over its failure', () => {
    const failed = linesOf(FAILED_AS_SUCCESS['copilot, a wrong key']);
    const { verdict } = play('Copilot', [...failed, ...linesOf(WORKED.copilot)], WORKED.copilot.result);
    expect(verdict).toEqual({ ok: true });
  });

  it('is no work when it is a loaded conversation that is repeated', () => {
    const prompt = { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'the earlier prompt' } };
    const lines = [...linesOf(WORKED.gemini), ...linesOf({ ...WORKED.gemini, updates: [prompt] })];
    expect(play('gemini-cli', lines, { stopReason: 'end_turn' }, true).verdict).toMatchObject({
      error: { kind: 'agent_did_nothing' },
    });
    expect(play('gemini-cli', lines, { stopReason: 'end_turn' }, false).verdict).toEqual({ ok: true });
  });

  it('is no work when it belongs to another session', () => {
    const { events, verdict } = play('some-agent', linesOf(WORKED.claude, 'session-2'), { stopReason: 'end_turn' });
    expect(shown(events)).toEqual([]);
    expect(verdict).toMatchObject({ error: { kind: 'agent_did_nothing' } });
  });

  it.each([
    ['thoughts', { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } }],
    ['a plan', { sessionUpdate: 'plan', entries: [{ content: 'work', priority: 'high', status: 'pending' }] }],
    ['blank text', { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: ' \n' } }],
    ['text without a letter', { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: '\u200b' } }],
    ['an update of no known kind', { sessionUpdate: 'agent_message', content: { type: 'text', text: 'hello' } }],
    ['a message without content', { sessionUpdate: 'agent_message_chunk' }],
  ])('is no work with %s alone', (_name, update) => {
    const { verdict } = play('some-agent', linesOf({ agent: '', updates: [update], result: {} }), { stopReason: 'end_turn' });
    expect(verdict).toMatchObject({ error: { kind: 'agent_did_nothing' } });
  });

  it('is work with content other than text', () => {
    const image = { sessionUpdate: 'agent_message_chunk', content: { type: 'image', data: 'x', mimeType: 'image/png' } };
    expect(play('a', linesOf({ agent: '', updates: [image], result: {} }), { stopReason: 'end_turn' }).verdict).toEqual({
      ok: true,
    });
  });
});

const recordings = fc.constantFrom<Recording>(...Object.values(WORKED), ...Object.values(FAILED_AS_SUCCESS));

/** One line, spoiled: cut, with a piece replaced, or as it was. */
const spoil = (line: string) =>
  fc.oneof(
    fc.constant(line),
    fc.nat(line.length).map((end) => line.slice(0, end)),
    fc.tuple(fc.nat(line.length), fc.string()).map(([at, junk]) => line.slice(0, at) + junk + line.slice(at + junk.length)),
    fc.json(),
  );

describe('whatever the agent sends', () => {
  it('nothing breaks, and without a line that shows work there is no success', () => {
    const lines = recordings.chain((recording) =>
      fc.tuple(fc.constant(recording), fc.tuple(...linesOf(recording).map((line) => spoil(line)))),
    );
    fc.assert(
      fc.property(lines, ([recording, spoiled]) => {
        const { verdict, events } = play(recording.agent, spoiled, { stopReason: 'end_turn' });
        const mayBeWork = spoiled.some((line) => /agent_message_chunk|tool_call/.test(line));
        if (verdict.ok) expect(mayBeWork).toBe(true);
        for (const event of events) if (event.type === 'message') expect(Buffer.byteLength(event.text)).toBeLessThanOrEqual(4096);
      }),
      { numRuns: 150 },
    );
  });

  it('a failure that is reported last is never a success, however much of the turn is lost before it', () => {
    const failures = fc.constantFrom<Recording>(
      ...Object.values(FAILED_AS_SUCCESS).filter(({ agent }) => agent !== 'some-agent'),
    );
    fc.assert(
      fc.property(failures, fc.infiniteStream(fc.boolean()), ({ agent, updates }, keep) => {
        const from = updates.findIndex((one) => /systemError|Error: /.test(JSON.stringify(one)));
        const kept = updates.filter((_one, index) => index >= from || keep.next().value);
        expect(play(agent, linesOf({ agent, updates: kept, result: {} }), { stopReason: 'end_turn' }).verdict.ok).toBe(false);
      }),
    );
  });

  it('updates that come twice or out of order count no token twice', () => {
    const mixed = fc
      .constantFrom(WORKED.claude, WORKED.opencode)
      .chain((recording) =>
        fc.tuple(fc.constant(recording), fc.shuffledSubarray([...linesOf(recording), ...linesOf(recording)])),
      );
    fc.assert(
      fc.property(mixed, ([recording, lines]) => {
        const { usage, events } = play(recording.agent, lines, recording.result);
        expect(usage?.tokens.totalTokens).toBe(recording.result.usage.totalTokens);
        expect(usage?.costUsd ?? 0).toBeLessThanOrEqual(0.01408);
        const started = events.filter(({ type }) => type === 'tool_started').length;
        expect(started).toBeLessThanOrEqual(1);
        expect(events.filter(({ type }) => type === 'tool_ended').length).toBeLessThanOrEqual(started);
      }),
    );
  });
});
