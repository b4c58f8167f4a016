import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SessionRequest } from '../../ports/agent.ts';
import { argsFor, envFor } from './args.ts';

const REQUEST: SessionRequest = {
  runId: 'r1',
  issueId: '7',
  issueIdentifier: 'AB-7',
  workspacePath: '/ws/AB-7',
  resumeSessionId: null,
  toolServer: null,
};

describe('the command line', () => {
  it('trusts the workspace for this process only, and keeps a key off the disk', () => {
    expect(argsFor(REQUEST, {})).toEqual(['-c', 'projects={"/ws/AB-7"={trust_level="trusted"}}']);
    expect(argsFor(REQUEST, { CODEX_API_KEY: 'k' })).toContain('cli_auth_credentials_store="ephemeral"');
  });

  it('hands values to the tool server by name, unless Codex itself needs another value', () => {
    const env = { TOKEN: 'secret', PATH: '/tools', LANG: 'C' };
    const toolServer = { name: 'foray', command: '/usr/bin/node', args: [], env };
    const inherited = { PATH: '/bin', LANG: 'C' };
    const args = argsFor({ ...REQUEST, toolServer }, inherited).join(' ');
    expect(args).toContain(
      'mcp_servers.foray={command="/usr/bin/node",args=[],env={PATH="/tools"},env_vars=["TOKEN","LANG"],default_tools_approval_mode="approve"}',
    );
    expect(args).not.toContain('secret');
    expect(envFor(inherited, { ...REQUEST, toolServer })).toMatchObject({ TOKEN: 'secret', PATH: '/bin', LANG: 'C' });
  });

  it('spells any text as a TOML string on one line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const toolServer = { name: 'foray', command: text, args: [text], env: {} };
        const value = argsFor({ ...REQUEST, toolServer }, {}).at(-1) ?? '';
        // TOML knows no raw control character, https://toml.io/en/v1.0.0#string
        expect(value).not.toMatch(/\p{Cc}/u);
        const [, spelled = ''] = /command=("(?:[^"\\]|\\.)*"),args/.exec(value) ?? [];
        expect(JSON.parse(spelled)).toBe(text);
      }),
    );
  });
});

describe('the environment', () => {
  it('is the inherited one without the key, with the run and the workspace', () => {
    expect(envFor({ HOME: '/home/a', CODEX_API_KEY: 'k', PWD: '/elsewhere' }, REQUEST)).toEqual({
      HOME: '/home/a',
      PWD: '/ws/AB-7',
      FORAY_RUN_ID: 'r1',
      FORAY_ISSUE_ID: '7',
      FORAY_ISSUE_IDENTIFIER: 'AB-7',
      FORAY_WORKSPACE: '/ws/AB-7',
    });
  });
});
