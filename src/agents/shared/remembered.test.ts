import { describe, expect, it } from 'vitest';
import { heldMb } from '../../../test/support/held-memory.ts';
import { createMask } from '../../lib/http/index.ts';
import { createTurnReader } from '../acp/turn-reader.ts';
import { createUsage as createAcpUsage } from '../acp/usage.ts';
import { waysOf } from '../acp/known-agents.ts';
import { createReader } from '../claude-code/turn.ts';
import { createUsage as createClaudeUsage } from '../claude-code/usage.ts';
import { watchTurn } from '../codex/turn-watch.ts';
import { createUsage as createCodexUsage } from '../codex/usage.ts';
import { createEventStream } from './event-stream.ts';
import { createModelRequests, keyOf } from './remembered.ts';

const MANY = 200;
/** No two are the same, and none shares its memory with another. */
const long = (at: number): string => Buffer.alloc(500_000, `${at} `).toString();

const streamOf = () => createEventStream({ onEvent: () => {}, mask: createMask([]), aliveMs: 1_000 });

/** A turn that says something over and over: what is called with each number, and keeps the turn alive. */
type Turn = (at: number) => void;

function claudeTurn(content: (at: number) => { readonly id: string; readonly model: string; readonly toolId: string }): Turn {
  const reader = createReader({ events: streamOf(), usage: createClaudeUsage(), onInit: () => {} });
  return (at) => {
    const { id, model, toolId } = content(at);
    const message = { id, model, content: [{ type: 'tool_use', id: toolId, name: 'Bash' }], usage: { input_tokens: 1 } };
    reader.accept(JSON.stringify({ type: 'assistant', message }));
  };
}

function codexItems(): Turn {
  const watch = watchTurn('T', streamOf());
  watch.named('u');
  return (at) => {
    const item = { id: long(at), type: 'dynamicToolCall', tool: long(at) };
    watch.see({ type: 'item-started', threadId: 'T', turnId: 'u', item });
  };
}

function codexFigures(
  names: (at: number) => { readonly threadId: string; readonly turnId: string; readonly model: string },
): Turn {
  const usage = createCodexUsage();
  return (at) => {
    const { threadId, turnId, model } = names(at);
    usage.modelIs(model);
    usage.turnStarted(turnId);
    usage.add(threadId, turnId, { total: { inputTokens: at + 1, outputTokens: 0, cachedInputTokens: 0 } });
  };
}

function acpCalls(call: (at: number) => object): Turn {
  const usage = createAcpUsage({ covers: { tokens: 'turn', cost: 'process' }, costBefore: null });
  const reader = createTurnReader({ events: streamOf(), usage, ways: waysOf(undefined), mayReplay: false });
  return (at) => reader.update({ sessionUpdate: 'tool_call', toolCallId: `t${at}`, status: 'in_progress', ...call(at) });
}

describe('what is remembered of a turn stays small', () => {
  it.each<readonly [string, () => Turn]>([
    ['ids of messages of Claude Code', () => claudeTurn((at) => ({ id: long(at), model: 'opus', toolId: 't' }))],
    ['models of Claude Code', () => claudeTurn((at) => ({ id: `m${at}`, model: long(at), toolId: 't' }))],
    ['ids of tool calls of Claude Code', () => claudeTurn((at) => ({ id: 'm', model: 'opus', toolId: long(at) }))],
    ['items of Codex', codexItems],
    ['turns of Codex', () => codexFigures((at) => ({ threadId: 'T', turnId: long(at), model: 'gpt' }))],
    ['threads of Codex', () => codexFigures((at) => ({ threadId: long(at), turnId: 'u', model: 'gpt' }))],
    ['models of Codex', () => codexFigures((at) => ({ threadId: 'T', turnId: 'u', model: long(at) }))],
    ['inputs over ACP', () => acpCalls((at) => ({ title: 'write', rawInput: { file_path: 'a', content: long(at) } }))],
    ['inputs over ACP of which all is worth a line', () => acpCalls((at) => ({ title: 'run', rawInput: { command: long(at) } }))],
    ['names over ACP', () => acpCalls((at) => ({ title: long(at), kind: long(at) }))],
    ['ids over ACP', () => acpCalls((at) => ({ toolCallId: long(at), title: 'write' }))],
  ])('whatever the %s are', async (_what, begin) => {
    const before = await heldMb();
    const turn = begin();
    for (let at = 0; at < MANY; at += 1) turn(at);
    expect((await heldMb()) - before).toBeLessThan(10);
    turn(MANY);
  });
});

describe('the key of an id', () => {
  it('is the id itself, or one as short for each longer one', () => {
    const keys = [keyOf('call-1'), keyOf(`${'a'.repeat(1_000)}1`), keyOf(`${'a'.repeat(1_000)}2`)];
    expect(keys[0]).toBe('call-1');
    expect(new Set(keys).size).toBe(3);
    expect(Math.max(...keys.map((key) => key.length))).toBeLessThan(100);
    expect(keyOf(`${'a'.repeat(1_000)}1`)).toBe(keys[1]);
  });
});

describe('the requests by model', () => {
  it('are counted for so many models and no more, and not for one without a name', () => {
    const requests = createModelRequests();
    for (const model of ['opus', '', 'opus', '__proto__', ...Array.from({ length: 100 }, (_, at) => `m${at}`)])
      requests.count(model);
    const counted = Object.entries(requests.byModel());
    expect(counted.slice(0, 2)).toEqual([
      ['opus', 2],
      ['__proto__', 1],
    ]);
    expect(counted).toHaveLength(50);
  });
});
