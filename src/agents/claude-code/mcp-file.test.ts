import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expandHome, findMcpProblem } from './mcp-config.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'mcp-file-'));
});
afterEach(() => rm(dir, { recursive: true }));

async function operatorFile(content: string): Promise<string> {
  const file = path.join(dir, 'servers.json');
  await writeFile(file, content);
  return file;
}

describe("the operator's file", () => {
  it.each([
    { content: '{"mcpServers":{"docs":{}}}', problem: null },
    { content: '{"mcpServers":{"foray":{}}}', problem: /names a server foray; that name is reserved/ },
    { content: '{"token": top-secret}', problem: /is not JSON$/ },
    { content: '{"servers":{}}', problem: /has no map of servers under mcpServers/ },
    { content: '{"mcpServers":[]}', problem: /has no map/ },
    { content: 'null', problem: /has no map/ },
  ])('$content', async ({ content, problem }) => {
    const found = await findMcpProblem(await operatorFile(content));
    if (problem === null) expect(found).toBeNull();
    else expect(found).toMatch(problem);
  });

  it('that is missing is a problem', async () => {
    expect(await findMcpProblem('/no/such/file.json')).toBe('claude-code.mcp_config: cannot read /no/such/file.json: ENOENT');
  });

  it('may be in the home', () => {
    expect(expandHome('~/a.json', { HOME: '/home/me' })).toBe('/home/me/a.json');
    expect(expandHome('/a.json', { HOME: '/home/me' })).toBe('/a.json');
  });
});
