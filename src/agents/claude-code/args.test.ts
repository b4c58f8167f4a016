import { describe, expect, it } from 'vitest';
import type { SessionRequest } from '../../ports/agent.ts';
import { argsFor, envFor } from './args.ts';
import { optionsSchema } from './options.ts';

const ID = '7b0f5a3e-2f0c-4f5e-9d0e-6a4b1c2d3e4f';
const NEW = { conversation: { id: ID, isNew: true }, toolServer: null, mcpFile: null, budgetUsd: null };
const optionsOf = (written: object) => optionsSchema().parse(written);
const request: SessionRequest = {
  runId: 'run-1',
  issueId: '10',
  issueIdentifier: 'ABC-1',
  workspacePath: '/ws/ABC-1',
  resumeSessionId: null,
  toolServer: null,
};

describe('argsFor', () => {
  it('opens a new conversation under our id', () => {
    expect(argsFor({ ...NEW, options: optionsOf({}) })).toEqual(
      `-p --output-format stream-json --verbose --include-partial-messages --input-format text --session-id ${ID} --permission-mode bypassPermissions`.split(
        ' ',
      ),
    );
  });

  it('goes on with a known one', () => {
    const args = argsFor({ ...NEW, options: optionsOf({}), conversation: { id: ID, isNew: false } });
    expect(args.slice(args.indexOf('--resume'))).toEqual(['--resume', ID, '--permission-mode', 'bypassPermissions']);
    expect(args).not.toContain('--session-id');
  });

  it.each([
    { option: { model: 'opus' }, args: ['--model', 'opus'] },
    { option: { permission_mode: 'plan' }, args: ['--permission-mode', 'plan'] },
    { option: { max_turns: 30 }, args: ['--max-turns', '30'] },
    { option: { max_budget_usd: 2.5 }, args: ['--max-budget-usd', '2.5'] },
    { option: { append_system_prompt: '- be brief' }, args: ['--append-system-prompt', '- be brief'] },
    { option: { allowed_tools: 'Read, Bash(git log:*)' }, args: ['--allowedTools', 'Read', 'Bash(git log:*)'] },
    { option: { disallowed_tools: ['WebFetch'] }, args: ['--disallowedTools', 'WebFetch'] },
  ])('passes $option on', ({ option, args }) => {
    const all = argsFor({ ...NEW, options: optionsOf(option) });
    const at = all.indexOf(args[0]!);
    expect(all.slice(at, at + args.length)).toEqual(args);
  });

  it.each([
    [undefined, 4, '4'],
    [2, 4, '2'],
    [6, 4, '4'],
    [2, null, '2'],
    [undefined, 0, '0.01'],
  ])('limits a turn to the lower of max_budget_usd %s and what is left %s', (max_budget_usd, budgetUsd, shown) => {
    const args = argsFor({ ...NEW, options: optionsOf({ max_budget_usd }), budgetUsd });
    expect(args[args.indexOf('--max-budget-usd') + 1]).toBe(shown);
  });

  it('names the tool servers without their secrets, and allows all tools of ours', () => {
    const toolServer = { name: 'foray', command: '/bin/tools', args: ['serve'], env: { FORAY_TOOL_TOKEN: 'top-secret' } };
    const args = argsFor({ ...NEW, options: optionsOf({ allowed_tools: ['Read'] }), toolServer, mcpFile: '/etc/servers.json' });
    expect(args.slice(-6, -1)).toEqual(['--allowedTools', 'Read', 'mcp__foray', '--mcp-config', '/etc/servers.json']);
    expect(JSON.parse(args.at(-1)!)).toEqual({
      mcpServers: {
        foray: { type: 'stdio', command: '/bin/tools', args: ['serve'], env: { FORAY_TOOL_TOKEN: '${FORAY_TOOL_TOKEN}' } },
      },
    });
    expect(args.join(' ')).not.toContain('top-secret');
    expect(envFor({}, { ...request, toolServer }, optionsOf({}), { isRoot: false })).toMatchObject(toolServer.env);
  });
});

describe('envFor', () => {
  const bypass = optionsSchema().parse({});

  it('adds who works on what, and quiet defaults', () => {
    expect(envFor({ PATH: '/bin', PWD: '/elsewhere' }, request, bypass, { isRoot: false })).toEqual({
      PATH: '/bin',
      PWD: '/ws/ABC-1',
      FORAY_RUN_ID: 'run-1',
      FORAY_ISSUE_ID: '10',
      FORAY_ISSUE_IDENTIFIER: 'ABC-1',
      FORAY_WORKSPACE: '/ws/ABC-1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '4',
    });
  });

  it('leaves what the operator set', () => {
    const env = envFor({ CLAUDE_CODE_MAX_RETRIES: '9', DISABLE_TELEMETRY: '' }, request, bypass, { isRoot: false });
    expect(env).toMatchObject({ CLAUDE_CODE_MAX_RETRIES: '9', DISABLE_TELEMETRY: '' });
  });

  it.each([
    { isRoot: true, mode: 'bypassPermissions', sandbox: '1' },
    { isRoot: true, mode: 'acceptEdits', sandbox: undefined },
    { isRoot: false, mode: 'bypassPermissions', sandbox: undefined },
  ])('as root $isRoot with $mode sets IS_SANDBOX to $sandbox', ({ isRoot, mode, sandbox }) => {
    const options = optionsSchema().parse({ permission_mode: mode });
    expect(envFor({}, request, options, { isRoot })['IS_SANDBOX']).toBe(sandbox);
  });

  it('hides that the daemon itself was started by Claude Code', () => {
    const env = envFor({ CLAUDECODE: '1', CLAUDE_CODE_ENTRYPOINT: 'cli' }, request, bypass, { isRoot: false });
    expect(Object.keys(env)).not.toEqual(expect.arrayContaining(['CLAUDECODE']));
    expect(env).not.toHaveProperty('CLAUDE_CODE_ENTRYPOINT');
  });
});
