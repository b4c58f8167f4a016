import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../domain/model/agent-event.ts';
import { createJsonRpcPeer } from '../../lib/json-rpc/index.ts';
import { judge } from './judge.ts';
import { createMask } from '../../lib/http/index.ts';
import { createEventStream } from '../shared/event-stream.ts';
import { createListener } from './listener.ts';
import { optionsSchema, type Options } from './options.ts';
import * as recorded from '../../../test/support/codex/recorded.ts';
import { watchTurn } from './turn-watch.ts';

/** What a turn comes to when Codex prints these lines, and what it tells. */
async function replay(
  lines: readonly string[],
  sandbox: Options['sandbox'] = 'workspace-write',
): Promise<{ verdict: string; events: AgentEvent[] }> {
  const events: AgentEvent[] = [];
  const stream = createEventStream({ onEvent: (event) => events.push(event), mask: createMask([]), aliveMs: 30_000 });
  const watch = watchTurn('T', stream);
  const listener = createListener({ options: optionsSchema().parse({}), ownServer: null, now: () => 0 });
  const peer = createJsonRpcPeer({ ...listener, envelope: 'bare', send: () => {} });
  listener.usage.threadBegan('T');
  listener.beginTurn({ watch, events: stream });
  for (const line of lines) peer.receive(line);
  const end = await Promise.race([watch.ended, Promise.resolve(null)]);
  stream.close();
  const circumstances = { limits: listener.limits, now: 0, sandbox, sandboxWorks: false, changedBefore: false };
  const verdict = end === null ? 'unfinished' : (judge(end, watch.evidence(), circumstances)?.kind ?? 'ok');
  return { verdict, events };
}

type Said = (typeof recorded.WORKING_TURN)[number];

function linesOf(...said: readonly (Said | readonly Said[])[]): string[] {
  const started = { method: 'turn/started', params: { threadId: '$T', turn: { id: '$U' } } };
  return [started, ...said.flat()].map((message) => JSON.stringify(message).replaceAll('$T', 'T').replaceAll('$U', 'U'));
}

const completed = recorded.turnEnded('completed');
const GOOD = linesOf(recorded.WORKING_TURN);

function inputTokens(events: readonly AgentEvent[]): number {
  const last = events.findLast((event) => event.type === 'usage');
  return last?.tokens.inputTokens ?? 0;
}

function item(type: string, fields: object = {}): Said[] {
  const params = (status: string) => ({ threadId: '$T', turnId: '$U', item: { id: `i-${type}`, type, status, ...fields } });
  return [
    { method: 'item/started', params: params('inProgress') },
    { method: 'item/completed', params: params('completed') },
  ];
}

describe('a turn of Codex', () => {
  const tools: [string, object, string][] = [
    ['commandExecution', { exitCode: 0 }, 'shell'],
    ['fileChange', {}, 'apply_patch'],
    ['mcpToolCall', { server: 'foray', tool: 'read_issue' }, 'foray.read_issue'],
    ['dynamicToolCall', { tool: 'mine' }, 'mine'],
    ['collabAgentToolCall', { tool: 'spawnAgent' }, 'spawnAgent'],
    ['functionCallOutput', { name: 'f' }, 'f'],
    ['webSearch', {}, 'web_search'],
    ['imageView', {}, 'view_image'],
    ['imageGeneration', {}, 'image_generation'],
    ['sleep', {}, 'sleep'],
  ];
  it.each(tools)('shows the item %s as a tool call', async (type, fields, name) => {
    const { verdict, events } = await replay(linesOf(item(type, fields), completed));
    expect(verdict).toBe('ok');
    expect(events).toEqual([
      { type: 'tool_started', toolId: `i-${type}`, name },
      { type: 'tool_ended', toolId: `i-${type}`, name, ok: true },
    ]);
  });

  it.each([
    ['commandExecution', { command: 'npm test', aggregatedOutput: 'ok\n', durationMs: 12 }, 'npm test', 'ok'],
    ['fileChange', { changes: [{ path: 'a.ts' }, { path: 'b.ts' }] }, 'a.ts, b.ts', undefined],
    ['mcpToolCall', { server: 's', tool: 't', arguments: { query: 'x' }, result: { content: [{ text: 'y' }] } }, 'x', 'y'],
    ['webSearch', { query: 'how to' }, 'how to', undefined],
    ['imageView', { path: '/a.png' }, '/a.png', undefined],
  ])('tells what the item %s was called with and gave back', async (type, fields, input, output) => {
    const { events } = await replay(linesOf(item(type, fields), completed));
    expect(events).toMatchObject([
      { type: 'tool_started', input },
      { type: 'tool_ended', ok: true, ...(output ? { output } : {}) },
    ]);
  });

  it.each([
    ['a plain question', []],
    ['a question after a look around', item('commandExecution', { commandActions: [{ type: 'read' }, { type: 'search' }] })],
    ['a question after a search', item('webSearch')],
  ])('needs a person after %s', async (_name, before) => {
    expect((await replay(linesOf(before, recorded.message('Which one do you mean?'), completed))).verdict).toBe(
      'agent_needs_person',
    );
  });

  it('needs none when it did something before it asked', async () => {
    const lines = linesOf(item('fileChange'), recorded.message('Shall I also change b.ts?'), completed);
    expect((await replay(lines)).verdict).toBe('ok');
  });

  it.each(['userMessage', 'reasoning', 'hookPrompt', 'contextCompaction', 'enteredReviewMode', 'newThing', 'toString'])(
    'does not take the item %s for work',
    async (type) => {
      expect(await replay(linesOf(item(type, { text: 'x' }), completed))).toEqual({ verdict: 'agent_did_nothing', events: [] });
    },
  );

  it('counts as work when one command of several ran, even if it failed', async () => {
    const lost = linesOf(recorded.LOST_COMMAND, item('commandExecution', { exitCode: 0 }), recorded.message('x'), completed);
    expect((await replay(lost)).verdict).toBe('ok');
    expect((await replay(linesOf(recorded.FAILED_COMMAND, completed))).verdict).toBe('ok');
  });

  it('counts as work when a file was changed beside commands that could not run', async () => {
    expect((await replay(linesOf(recorded.LOST_COMMAND, item('fileChange'), completed))).verdict).toBe('ok');
  });

  it.each([
    ['a plan', { method: 'turn/plan/updated', params: { threadId: '$T', turnId: '$U', plan: [] } }],
    ['a summary of the conversation', item('contextCompaction')],
  ])('may need a second model request for %s', async (_name, between) => {
    const lines = linesOf(recorded.usage(1), between, recorded.message('x'), recorded.usage(2), completed);
    expect((await replay(lines)).verdict).toBe('ok');
  });

  it.each([
    ['workspace-write', 'agent_did_nothing'],
    ['read-only', 'ok'],
    ['danger-full-access', 'ok'],
  ] as const)('with tool calls that left no trace, in the sandbox %s, is %s', async (sandbox, verdict) => {
    const lines = linesOf(recorded.usage(1), recorded.message('x'), recorded.usage(2), completed);
    expect((await replay(lines, sandbox)).verdict).toBe(verdict);
  });

  it('does not hear other turns and other threads', async () => {
    const text = recorded.message('not mine').at(-1)?.params ?? {};
    const strangers = [
      { method: 'item/completed', params: { ...text, turnId: 'other' } },
      { method: 'item/completed', params: { ...text, threadId: 'other' } },
      { method: 'turn/completed', params: { threadId: '$T', turn: { id: 'other', status: 'completed' } } },
    ];
    expect(await replay(linesOf(strangers))).toEqual({ verdict: 'unfinished', events: [] });
  });

  it('shows why a tool of a server was not called', async () => {
    const text = 'MCP tool call requires approval, but approval policy is never';
    const failed = item('mcpToolCall', { server: 'mail', tool: 'send', status: 'failed', error: { message: text } });
    const { events } = await replay(linesOf(failed, recorded.message('x'), completed));
    expect(events).toContainEqual({ type: 'tool_ended', toolId: 'i-mcpToolCall', name: 'mail.send', ok: false, output: text });
  });

  it('shows a tool server that did not start', async () => {
    const params = { threadId: '$T', name: 'foray', status: 'failed', error: 'no such file' };
    const { events } = await replay(linesOf({ method: 'mcpServer/startupStatus/updated', params }));
    expect(events).toEqual([{ type: 'notice', text: 'the tool server foray did not start: no such file' }]);
  });
});

describe('damaged output', () => {
  it('that is cut anywhere is no success, and what was told is counted once', async () => {
    const text = GOOD.join('\n');
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length - 3), async (at) => {
        const { verdict, events } = await replay(text.slice(0, at).split('\n'));
        expect(verdict).not.toBe('ok');
        expect([0, 1234, 2468]).toContain(inputTokens(events));
      }),
    );
  });

  it('with lines lost, repeated and mixed with noise is never counted twice', async () => {
    const line = fc.oneof(
      fc.constantFrom(...GOOD),
      fc.string(),
      fc.json(),
      fc.constantFrom(...GOOD).map((good) => good.slice(0, -2)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 40 }), async (lines) => {
        const { events } = await replay(lines);
        expect([0, 1234, 2468]).toContain(inputTokens(events));
        const started = events.filter(({ type }) => type === 'tool_started').length;
        expect(events.filter(({ type }) => type === 'tool_ended')).toHaveLength(started);
      }),
    );
  });

  it('without the word of the end is no success', async () => {
    const broken = fc.subarray(GOOD.slice(0, -1));
    await fc.assert(
      fc.asyncProperty(broken, async (lines) => {
        expect((await replay(lines)).verdict).toBe('unfinished');
      }),
    );
  });

  it('with members of any other kind crashes nothing', async () => {
    const message = fc.constantFrom(...recorded.WORKING_TURN, ...recorded.AUTH_401);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(message, fc.jsonValue())), async (pairs) => {
        const lines = pairs.map(([{ method }, params]) => JSON.stringify({ method, params }));
        expect((await replay([...lines, ...GOOD])).verdict).toBe('ok');
      }),
    );
  });
});
