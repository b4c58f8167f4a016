import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionRequest } from '../../ports/agent.ts';
import { expandHome, findMcpProblem, prepareTools } from './mcp-config.ts';

let dir = '';
let request: SessionRequest;
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'mcp-config-'));
  const workspacePath = path.join(dir, 'ws');
  await mkdir(workspacePath);
  request = {
    runId: 'run-1',
    issueId: '1',
    issueIdentifier: 'ABC-1',
    workspacePath,
    resumeSessionId: null,
    toolServer: { name: 'foray', command: '/bin/tools', args: ['serve'], env: { TOKEN: 'top-secret' } },
  };
});
afterEach(() => rm(dir, { recursive: true }));

async function operatorFile(content: string): Promise<string> {
  const file = path.join(dir, 'servers.json');
  await writeFile(file, content);
  return file;
}

const OURS = { type: 'stdio', command: '/bin/tools', args: ['serve'], env: { TOKEN: 'top-secret' } };

describe('prepareTools', () => {
  it('writes our server into a file of the workspace that only we can read, and removes it', async () => {
    const tools = await prepareTools(request, null);
    const file = path.join(request.workspacePath, '.foray', 'mcp.json');
    expect(tools).toMatchObject({ configPath: file, serverName: 'foray' });
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ mcpServers: { foray: OURS } });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(path.dirname(file))).toEqual(['mcp.json']);
    await tools.release();
    await tools.release();
    expect(await readdir(path.dirname(file))).toEqual([]);
  });

  it("adds the operator's servers", async () => {
    const tools = await prepareTools(request, await operatorFile('{"mcpServers":{"docs":{"type":"http","url":"http://x"}}}'));
    const { mcpServers } = JSON.parse(await readFile(tools.configPath!, 'utf8')) as { mcpServers: object };
    expect(mcpServers).toEqual({ docs: { type: 'http', url: 'http://x' }, foray: OURS });
  });

  it("uses the operator's file as it is when there is no server of ours", async () => {
    const tools = await prepareTools({ ...request, toolServer: null }, '/etc/servers.json');
    expect(tools).toMatchObject({ configPath: '/etc/servers.json', serverName: null });
    await tools.release();
    expect(await readdir(request.workspacePath)).toEqual([]);
  });

  it('replaces a link that stands in the place of the file', async () => {
    const precious = path.join(dir, 'precious');
    await writeFile(precious, 'keep');
    await mkdir(path.join(request.workspacePath, '.foray'));
    await symlink(precious, path.join(request.workspacePath, '.foray', 'mcp.json'));
    await prepareTools(request, null);
    expect(await readFile(precious, 'utf8')).toBe('keep');
  });

  it('refuses a link that stands in the place of the folder', async () => {
    const elsewhere = path.join(dir, 'elsewhere');
    await mkdir(elsewhere);
    await symlink(elsewhere, path.join(request.workspacePath, '.foray'));
    await expect(prepareTools(request, null)).rejects.toThrow(/\.foray is not a directory/);
    expect(await readdir(elsewhere)).toEqual([]);
  });

  it('does not make up a workspace', async () => {
    await expect(prepareTools({ ...request, workspacePath: path.join(dir, 'none') }, null)).rejects.toThrow(/ENOENT/);
    expect(await readdir(dir)).toEqual(['ws']);
  });
});

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
