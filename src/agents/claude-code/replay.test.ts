import { describe, expect, it } from 'vitest';
import {
  PLAIN,
  EXIT_0,
  EXIT_1,
  recorded,
  replay,
  kindOf,
  messageOf,
  textsOf,
  lastUsage,
} from '../../../test/support/claude-code/replay.ts';

describe('a recorded turn', () => {
  it('that went well', () => {
    const { events, verdict, sessionIds } = replay(recorded('success'), EXIT_0);
    expect(verdict).toEqual({ type: 'ok', notices: [] });
    expect(sessionIds).toEqual(['c3b6570d-8d66-4b84-be5a-9efa69b76cc5']);
    expect(events.filter((event) => event.type !== 'usage')).toEqual([
      { type: 'message', text: 'I will write the file.' },
      { type: 'tool_started', toolId: 'toolu_2mwh35266', name: 'Write', input: '/workspace/hello.txt' },
      {
        type: 'tool_ended',
        toolId: 'toolu_2mwh35266',
        name: 'Write',
        ok: true,
        output: expect.stringContaining('File created successfully') as string,
      },
      { type: 'message', text: 'DONE: wrote hello.txt' },
    ]);
    expect(lastUsage(events)).toEqual({
      type: 'usage',
      tokens: { inputTokens: 3004, outputTokens: 50, totalTokens: 3054, cacheReadTokens: 600 },
      requests: 2,
      requestsByModel: { 'claude-sonnet-4-5': 2 },
      apiMs: 58,
      costUsd: 0.008441999999999998,
    });
  });

  it.each([
    { name: 'resumed', ending: EXIT_0, kind: 'ok' },
    { name: 'bad-key', ending: EXIT_1, kind: 'agent_not_logged_in' },
    { name: 'not-logged-in', ending: EXIT_1, kind: 'agent_not_logged_in' },
    { name: 'server-error', ending: EXIT_1, kind: 'turn_failed' },
    { name: 'overloaded', ending: EXIT_1, kind: 'turn_failed' },
    { name: 'rate-limit', ending: EXIT_1, kind: 'agent_usage_limit' },
    { name: 'no-credit', ending: EXIT_1, kind: 'agent_usage_limit' },
    { name: 'refusal', ending: EXIT_1, kind: 'agent_refused' },
    { name: 'interrupted', ending: EXIT_0, kind: 'agent_exited' },
    { name: 'permission-denied', ending: EXIT_0, kind: 'agent_needs_person' },
    { name: 'lost-conversation', ending: EXIT_1, kind: 'turn_failed' },
    { name: 'too-long', ending: EXIT_1, kind: 'turn_failed' },
    { name: 'max-turns', ending: EXIT_1, kind: 'ok' },
    { name: 'max-budget', ending: EXIT_1, kind: 'ok' },
    { name: 'unknown-command', ending: EXIT_0, kind: 'agent_did_nothing' },
  ])('$name is $kind', ({ name, ending, kind }) => {
    expect(kindOf(replay(recorded(name), ending).verdict)).toBe(kind);
  });
});
describe('the traps', () => {
  it('an API failure calls itself a success: is_error decides', () => {
    const result = recorded('server-error').at(-1)!;
    expect(JSON.parse(result)).toMatchObject({ subtype: 'success', is_error: true });
    const { verdict } = replay(recorded('server-error'), EXIT_0);
    expect(messageOf(verdict)).toMatch(/^agent: turn_failed: the model API is down or overloaded: API Error: 500 fake internal/);
  });

  it('an interrupted process exits with 0 and no result: no result is a failure', () => {
    expect(messageOf(replay(recorded('interrupted'), EXIT_0).verdict)).toBe(
      'agent: agent_exited: claude exited with code 0 without a result',
    );
    expect(kindOf(replay(recorded('success').slice(0, -1), EXIT_0).verdict)).toBe('agent_exited');
  });

  it('a bad key is reported with its own retries as notices', () => {
    const { events, verdict } = replay(recorded('bad-key'), EXIT_1);
    expect(textsOf(events, 'notice')).toEqual([
      'the model API failed (401), try 1 of 10 follows',
      'Invalid API key · Fix external API key',
    ]);
    expect(messageOf(verdict)).toMatch(/set ANTHROPIC_API_KEY$/);
  });

  it('a message repeats with small figures: the result counts, once', () => {
    const lines = recorded('success');
    const { events } = replay([...lines.slice(0, 3), ...lines.slice(1, 3), ...lines.slice(3)], EXIT_0);
    expect(lastUsage(events)).toMatchObject({ tokens: { inputTokens: 3004, outputTokens: 50 }, requests: 2 });
  });

  it('usage without a result is what the messages told', () => {
    const { events } = replay(recorded('success').slice(0, -1), { code: null, signal: 'SIGKILL', stderr: '' });
    const usage = lastUsage(events);
    expect(usage).toMatchObject({ tokens: { inputTokens: 3004, outputTokens: 2, cacheReadTokens: 600 }, requests: 2 });
    expect(usage).not.toHaveProperty('costUsd');
  });

  it('a failed turn that reported nothing leaves the usage unknown', () => {
    expect(lastUsage(replay(recorded('server-error'), EXIT_1).events)).toBeUndefined();
  });

  it('a refused permission with nothing else done needs a person', () => {
    expect(messageOf(replay(recorded('permission-denied'), EXIT_0).verdict)).toBe(
      'agent: agent_needs_person: permission was refused for Write and nothing else was done; ' +
        'name the tools in allowed_tools or choose another permission_mode',
    );
  });

  it('a refused permission beside other work is a notice', () => {
    const lines = recorded('permission-denied');
    const [use, end] = [recorded('success')[2]!, recorded('success')[3]!];
    const { verdict } = replay([...lines.slice(0, 3), use, end, ...lines.slice(3)], EXIT_0);
    expect(verdict).toEqual({ type: 'ok', notices: ['permission was refused for Write'] });
  });

  it.each(['AskUserQuestion', 'ExitPlanMode'])('a refused %s needs a person, whatever else was done', (tool) => {
    const lines = recorded('success');
    const result = { ...JSON.parse(lines.at(-1)!), permission_denials: [{ tool_name: tool, tool_use_id: 't9' }] };
    const { verdict } = replay([...lines.slice(0, -1), JSON.stringify(result)], EXIT_0);
    expect(messageOf(verdict)).toContain(`agent_needs_person: ${tool} needs a person`);
  });

  it.each([
    [
      'AskUserQuestion',
      { questions: [{ question: 'Which database?', options: [] }, { question: 'And when?' }] },
      'Which database? And when?',
    ],
    ['ExitPlanMode', { plan: '1. Rename it.' }, '1. Rename it.'],
  ])('a refused %s tells what it asks', (tool, input, asked) => {
    const lines = recorded('success');
    const denial = { tool_name: tool, tool_use_id: 't9', tool_input: input };
    const result = { ...JSON.parse(lines.at(-1)!), permission_denials: [denial] };
    const { verdict } = replay([...lines.slice(0, -1), JSON.stringify(result)], EXIT_0);
    expect(messageOf(verdict)).toBe(`agent: agent_needs_person: ${tool} needs a person, and none is there: ${asked}`);
  });

  it.each(['constructor', 'toString'])('a failed turn that says %s is no turn that was cut short', (subtype) => {
    const lines = recorded('max-turns').map((line) => line.replace('error_max_turns', subtype));
    expect(replay(lines, EXIT_1).verdict).toMatchObject({ type: 'failed' });
  });

  it('max_turns reached is a turn that was cut short', () => {
    const { verdict } = replay(recorded('max-turns'), EXIT_1);
    expect(verdict).toEqual({ type: 'ok', notices: ['the turn was cut short: max_turns was reached'] });
    expect(kindOf(replay(recorded('max-turns').slice(-1), EXIT_1).verdict)).toBe('agent_did_nothing');
  });

  it('max_budget_usd reached likewise, and its tool call that never ended counts as failed', () => {
    const { events, verdict } = replay(recorded('max-budget'), EXIT_1);
    expect(verdict).toEqual({ type: 'ok', notices: ['the turn was cut short: max_budget_usd was reached'] });
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool_ended', name: 'Bash', ok: false }));
    expect(lastUsage(events)).toMatchObject({ tokens: { inputTokens: 1502, outputTokens: 25 } });
  });

  it.each(['lost-conversation', 'too-long'])('%s may be taken up anew', (name) => {
    expect(replay(recorded(name), EXIT_1).verdict.type).toBe('lost');
  });

  it('a conversation in which something was done is not taken up anew', () => {
    const lines = [...recorded('success').slice(0, -1), recorded('too-long').at(-1)!];
    expect(replay(lines, EXIT_1).verdict.type).toBe('failed');
  });
});
describe('a turn that ends in a question', () => {
  const said = (text: string): string =>
    JSON.stringify({ type: 'assistant', message: { id: 'm', model: 'opus', content: [{ type: 'text', text }] } });
  const looked = [
    '{"type":"assistant","message":{"id":"r","model":"opus","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}]}}',
    '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"text"}]}}',
  ];
  const result = recorded('success').at(-1)!;

  it.each([
    'Which of the two APIs do you want me to use?',
    'I see two ways.\n\n1. a\n2. b\n\n**Shall I proceed?**',
    "Here's my plan:\n1. Read the file\n2. Change it",
    '## Plan\n\n1. Read',
  ])('or a plan and changed nothing needs a person: %j', (text) => {
    expect(kindOf(replay([...looked, said(text), result], EXIT_0).verdict)).toBe('agent_needs_person');
  });

  it.each(['I changed nothing, all is well.', 'Is there anything else?', 'The plan of the house is in a.txt.'])(
    'only by courtesy counts: %j',
    (text) => {
      expect(kindOf(replay([said(text), result], EXIT_0).verdict)).toBe('ok');
    },
  );

  it('after it changed something counts, in this turn or an earlier one', () => {
    const question = said('I did it. Shall I do more of it?');
    expect(kindOf(replay([...recorded('success').slice(0, -1), question, result], EXIT_0).verdict)).toBe('ok');
    expect(kindOf(replay([question, result], EXIT_0, { ...PLAIN, changedBefore: true }).verdict)).toBe('ok');
  });

  it('never counts while it may only plan', () => {
    const { verdict } = replay(recorded('success'), EXIT_0, { ...PLAIN, mode: 'plan' });
    expect(messageOf(verdict)).toContain('agent_needs_person: it made a plan that nobody approved');
  });
});
