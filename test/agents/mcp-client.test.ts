import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunPlan } from '../../src/domain/model/effect.ts';
import { createToolCalls } from '../../src/mcp/calls.ts';
import { startToolHost, type ToolHost } from '../../src/mcp/host.ts';
import { TOOLS } from '../../src/mcp/tools.ts';
import type { Tracker } from '../../src/ports/tracker.ts';
import { issueWith, refWith } from '../support/issues.ts';
import { settingsWith } from '../support/settings.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** The part of the official client that is used here; it is installed beside the agents, not with the project. */
interface McpClient {
  connect(transport: unknown): Promise<void>;
  getServerVersion(): { name: string; version: string };
  ping(): Promise<unknown>;
  listTools(): Promise<{ tools: { name: string; inputSchema: { type: string } }[] }>;
  callTool(call: { name: string; arguments?: object }): Promise<{ isError?: boolean; content: { type: string; text: string }[] }>;
  close(): Promise<void>;
}
type New<Args extends readonly unknown[], T> = new (...args: Args) => T;

async function official(name: string): Promise<Record<string, unknown>> {
  const file = createRequire(import.meta.url).resolve(`@modelcontextprotocol/sdk/client/${name}`);
  return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
}

let host: ToolHost;
let client: McpClient | null = null;
const told: string[] = [];
afterEach(async () => {
  await client?.close();
  await host.stop();
});

/** The official client, connected to the built command as an agent would start it. */
async function connect(): Promise<McpClient> {
  const quiet = (): void => {};
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const pidsOf = (): number[] => [process.pid];
  host = await startToolHost({ logger, command: process.execPath, args: [CLI, 'mcp'], scope: import.meta.url, pidsOf });
  const tracker = {
    kind: 'file',
    fetchIssueById: () => Promise.resolve(issueWith({ id: '1', title: 'Größe "prüfen"\n' })),
    commentIssue: (_id: string, text: string) => Promise.resolve(void told.push(text)),
  } as unknown as Tracker;
  const plan: RunPlan = {
    runId: 'run-1',
    issue: refWith({ id: '1' }),
    attempt: 0,
    trigger: 'fresh',
    reaction: null,
    resumeSessionId: null,
    holder: null,
    issueAsRead: null,
    settings: settingsWith(),
  };
  const progress = () => Promise.resolve({ turn: 1, maxTurns: 1, attempt: 0, tokensUsed: 0, costUsd: 0, earlier: [] });
  const server = host.open(plan, createToolCalls({ plan, tracker, mask: String, record: quiet, progress }));
  const { Client } = (await official('index.js')) as { Client: New<[object], McpClient> };
  const { StdioClientTransport } = (await official('stdio.js')) as { StdioClientTransport: New<[object], unknown> };
  client = new Client({ name: 'foray-test', version: '1' });
  await client.connect(
    new StdioClientTransport({ command: server.command, args: server.args, env: { PATH: process.env['PATH'], ...server.env } }),
  );
  return client;
}

describe('foray mcp with the official client', () => {
  it('connects, answers a ping and lists its tools', async () => {
    const live = await connect();
    expect(live.getServerVersion()).toMatchObject({ name: 'foray' });
    await live.ping();
    const { tools } = await live.listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name));
  });

  it('carries out calls and tells which of them failed', async () => {
    const live = await connect();
    const read = await live.callTool({ name: 'read_issue' });
    expect(JSON.parse(read.content[0]?.text ?? '')).toMatchObject({ title: 'Größe "prüfen"\n' });
    await live.callTool({ name: 'comment', arguments: { text: 'done' } });
    expect(told).toEqual(['done']);
    expect(await live.callTool({ name: 'comment', arguments: { text: 'x', issue_id: '2' } })).toMatchObject({ isError: true });
    await expect(live.callTool({ name: 'no_such_tool' })).rejects.toThrow('unknown tool');
  });
});
