import { describe, expect, it } from 'vitest';
import { optionsSchema, PERMISSION_MODES } from './options.ts';

const faultsOf = (options: object): string[] =>
  optionsSchema()
    .strict()
    .safeParse(options)
    .error?.issues.map((issue) => issue.message) ?? [];

describe('the claude-code block', () => {
  it('needs nothing and skips permissions unless told otherwise', () => {
    expect(optionsSchema().parse({})).toEqual({ permission_mode: 'bypassPermissions' });
  });

  it.each(PERMISSION_MODES)('takes the permission mode %s', (mode) => {
    expect(faultsOf({ permission_mode: mode })).toEqual([]);
  });

  it.each([
    { written: ['Read', 'Bash(git log:*)'], means: ['Read', 'Bash(git log:*)'] },
    { written: 'Read, Bash(git log:*),Edit', means: ['Read', 'Bash(git log:*)', 'Edit'] },
    { written: 'Bash(echo a, b), Edit', means: ['Bash(echo a, b)', 'Edit'] },
    { written: ' Read ,, ', means: ['Read'] },
    { written: '', means: [] },
    { written: 'Bash(open, Edit', means: ['Bash(open', 'Edit'] },
  ])('reads the tools $written', ({ written, means }) => {
    const options = optionsSchema().parse({ allowed_tools: written, disallowed_tools: written });
    expect(options).toMatchObject({ allowed_tools: means, disallowed_tools: means });
    expect(optionsSchema().parse(options)).toEqual(options);
  });

  it.each([
    { permission_mode: 'auto' },
    { permission_mode: 'BypassPermissions' },
    { model: '' },
    { model: 7 },
    { max_turns: 0 },
    { max_turns: 1.5 },
    { max_budget_usd: 0 },
    { max_budget_usd: '1' },
    { append_system_prompt: ' ' },
    { append_system_prompt: 'x'.repeat(200_000) },
    { append_system_prompt: 'a\0b' },
    { allowed_tools: 7 },
    { allowed_tools: ['Read', ''] },
    { disallowed_tools: ['--dangerously-skip-permissions'] },
    { mcp_config: 'servers.json' },
    { unknown: 1 },
  ])('refuses %j', (options) => {
    expect(faultsOf(options)).toHaveLength(1);
  });

  it('describes every key', () => {
    for (const [key, schema] of Object.entries(optionsSchema().shape)) {
      const about = schema.meta()?.description ?? ('unwrap' in schema ? schema.unwrap().meta()?.description : undefined);
      expect(about, key).toMatch(/\w/);
    }
  });
});
