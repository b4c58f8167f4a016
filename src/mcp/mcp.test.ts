import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { issueWith, refWith } from '../../test/support/issues.ts';
import { settingsWith } from '../../test/support/settings.ts';
import { TrackerError } from '../domain/model/errors.ts';
import type { RunPlan } from '../domain/model/effect.ts';
import type { Tracker } from '../ports/tracker.ts';
import { startToolHost, type ToolHost } from './host.ts';
import { serveMcp } from './server.ts';
import { TOOLS } from './tools.ts';

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const PLAN: RunPlan = {
  runId: 'run-1',
  issue: refWith({ id: '1' }),
  attempt: 1,
  trigger: 'fresh',
  reaction: null,
  resumeSessionId: null,
  settings: settingsWith({ agent: { maxTokens: 1_000 } }),
};

/** A tracker that remembers what it was told. */
function createBook() {
  const told: string[] = [];
  const issue = issueWith({ id: '1', comments: [{ id: 'c', author: 'eve', body: 'hi', createdAt: '2026-01-01T00:00:00Z' }] });
  const tracker = {
    kind: 'file',
    fetchIssueById: () => Promise.resolve(issue),
    commentIssue: (id: string, text: string) => Promise.resolve(void told.push(`comment ${id} ${text}`)),
    transitionIssue: (id: string, state: string) =>
      state === 'doing'
        ? Promise.reject(new TrackerError({ kind: 'tracker_auth_error', method: 'PUT', path: '/1', detail: 'not allowed' }))
        : Promise.resolve(void told.push(`move ${id} ${state}`)),
    labels: {
      add: (id: string, label: string) => Promise.resolve(void told.push(`label ${id} ${label}`)),
      remove: () => Promise.resolve(),
    },
  } as unknown as Tracker;
  return { told, tracker };
}

let host: ToolHost;
let book: ReturnType<typeof createBook>;
let recorded: string[];
beforeEach(async () => {
  host = await startToolHost({ logger: SILENT, command: 'node', args: ['cli.js', 'mcp'], scope: import.meta.url });
  book = createBook();
  recorded = [];
});
afterEach(() => host.stop());

function openRun() {
  return host.open({
    plan: PLAN,
    tracker: book.tracker,
    record: (text) => void recorded.push(text),
    progress: () => Promise.resolve({ turn: 2, maxTurns: 3, attempt: 1, tokensUsed: 400, costUsd: 0, earlier: [] }),
  });
}

/** Talks to the server as an agent would: one line a message. */
function connectAgent(env: Readonly<Record<string, string>>) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = serveMcp({
    socketPath: env['FORAY_TOOL_SOCKET'] ?? '',
    token: env['FORAY_TOOL_TOKEN'] ?? '',
    version: '1',
    input,
    output,
  });
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  let id = 0;
  return {
    served,
    async ask(
      method: string,
      params: unknown = {},
    ): Promise<{ result?: Record<string, unknown>; error?: { code: number; message: string } }> {
      id += 1;
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      const { value } = await lines.next();
      return JSON.parse(String(value)) as { result?: Record<string, unknown>; error?: { code: number; message: string } };
    },
    async call(name: string, args: unknown = {}): Promise<{ text: string; isError: boolean }> {
      const { result } = await this.ask('tools/call', { name, arguments: args });
      const [content] = (result?.['content'] ?? []) as { text: string }[];
      return { text: content?.text ?? '', isError: result?.['isError'] === true };
    },
    end: () => input.end(),
  };
}

describe('the tool server', () => {
  it('speaks the protocol and lists every tool', async () => {
    const agent = connectAgent(openRun().env);
    const hello = await agent.ask('initialize', {
      protocolVersion: '2025-03-26',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    });
    expect(hello.result).toMatchObject({ protocolVersion: '2025-03-26', serverInfo: { name: 'foray' } });
    const listed = await agent.ask('tools/list');
    expect(((listed.result?.['tools'] ?? []) as { name: string }[]).map((tool) => tool.name)).toEqual(
      TOOLS.map((tool) => tool.name),
    );
    expect((await agent.ask('nope')).error?.code).toBe(-32601);
    expect((await agent.ask('tools/call', { name: 'nope' })).error?.code).toBe(-32602);
    agent.end();
    await agent.served;
  });

  it('knows nothing but its socket and the token of its run', () => {
    expect(Object.keys(openRun().env)).toEqual(['FORAY_TOOL_SOCKET', 'FORAY_TOOL_TOKEN']);
  });

  it('refuses a token of no run, and one of a run that is over', async () => {
    const { env } = openRun();
    await expect(connectAgent({ ...env, FORAY_TOOL_TOKEN: 'x' }).served).rejects.toThrow('no run has this token');
    host.close('run-1');
    await expect(connectAgent(env).served).rejects.toThrow('no run has this token');
  });
});

describe('the tools', () => {
  it('read and write the one issue, every write recorded first', async () => {
    const agent = connectAgent(openRun().env);
    expect(JSON.parse((await agent.call('read_issue')).text)).toMatchObject({
      identifier: 'T-1',
      comments: [{ author: 'eve', body: 'hi' }],
    });
    await agent.call('comment', { text: 'done' });
    await agent.call('move_issue', { state: 'Review' });
    await agent.call('add_label', { label: 'x' });
    expect(book.told).toEqual(['comment 1 done', 'move 1 review', 'label 1 x']);
    expect(recorded).toEqual(['comment: done', 'move_issue: review', 'add_label: x']);
  });

  it('tell the budget, the turns and the states that are allowed', async () => {
    const agent = connectAgent(openRun().env);
    expect(JSON.parse((await agent.call('run_status')).text)).toMatchObject({
      turn: 2,
      turns_left: 1,
      tokens_left: 600,
      cost_usd_left: null,
      allowed_states: ['todo', 'doing', 'review'],
    });
  });

  it.each([
    ['a terminal state', 'move_issue', { state: 'done' }, 'may be moved to todo, doing, review'],
    ['an empty comment', 'comment', { text: ' ' }, 'text must be a text'],
    ['a comment without end', 'comment', { text: 'x'.repeat(20_000) }, '16000 characters'],
    ['an unknown outcome', 'finish', { outcome: 'great' }, 'outcome must be'],
    ['a refusal of the tracker', 'move_issue', { state: 'doing' }, 'tracker_auth_error: not allowed'],
  ])('refuse %s, and say why', async (_name, tool, args, message) => {
    const agent = connectAgent(openRun().env);
    const answer = await agent.call(tool, args);
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain(message);
    expect(book.told).toEqual([]);
  });

  it('are limited for writes', async () => {
    const agent = connectAgent(openRun().env);
    for (let count = 0; count < 10; count += 1) expect((await agent.call('comment', { text: 'x' })).isError).toBe(false);
    expect((await agent.call('comment', { text: 'x' })).text).toContain('10 times');
    expect(book.told).toHaveLength(10);
  });

  it('let the agent say how the work ended', async () => {
    const agent = connectAgent(openRun().env);
    expect(host.statusOf('run-1')).toBeNull();
    await agent.call('finish', { outcome: 'blocked', statement: 'no access' });
    expect(host.statusOf('run-1')).toEqual({ word: 'blocked', statement: 'no access' });
  });
});
