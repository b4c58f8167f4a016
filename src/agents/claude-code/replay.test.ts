import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../domain/model/agent-event.ts';
import { createEventStream } from '../shared/event-stream.ts';
import { judge, type Circumstances, type Ending, type TurnVerdict } from './judge.ts';
import { parseLine } from './parse.ts';
import { createReader } from './turn.ts';
import { createUsage } from './usage.ts';

const NOW = Date.parse('2026-11-15T12:00:00Z');
const PLAIN: Circumstances = { now: NOW, mode: 'bypassPermissions', changedBefore: false };
const EXIT_0: Ending = { code: 0, signal: null, stderr: '' };
const EXIT_1: Ending = { code: 1, signal: null, stderr: '' };

const recorded = (name: string): string[] =>
  readFileSync(new URL(`./fixtures/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n');

interface Replay {
  readonly events: AgentEvent[];
  readonly verdict: TurnVerdict;
  readonly sessionIds: string[];
}

function replay(lines: readonly string[], ending: Ending, circumstances = PLAIN): Replay {
  const events: AgentEvent[] = [];
  const sessionIds: string[] = [];
  const stream = createEventStream({ onEvent: (event) => events.push(event), mask: (text) => text, aliveMs: 60_000 });
  const onInit = (sessionId: string): void => void sessionIds.push(sessionId);
  const reader = createReader({ events: stream, usage: createUsage(), onInit });
  for (const line of lines) reader.accept(line);
  const verdict = judge(reader.finish(), ending, circumstances);
  stream.close();
  return { events, verdict, sessionIds };
}

const kindOf = (verdict: TurnVerdict): string => (verdict.type === 'ok' ? 'ok' : verdict.error.kind);
const messageOf = (verdict: TurnVerdict): string => (verdict.type === 'ok' ? '' : verdict.error.message);
const textsOf = (events: readonly AgentEvent[], type: 'message' | 'notice'): string[] =>
  events.flatMap((event) => (event.type === type ? [event.text] : []));
const lastUsage = (events: readonly AgentEvent[]): AgentEvent | undefined => events.findLast((event) => event.type === 'usage');

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

describe('an outcome beyond the recordings', () => {
  const limit = (info: object): string => JSON.stringify({ type: 'rate_limit_event', rate_limit_info: info });

  it('takes the reset time of a usage limit from the event', () => {
    const event = limit({ status: 'rejected', resetsAt: 1794760000, rateLimitType: 'five_hour' });
    const { events, verdict } = replay([event, ...recorded('rate-limit')], EXIT_1);
    expect(verdict).toMatchObject({ error: { kind: 'agent_usage_limit', resetsAt: 1794760000_000 } });
    expect(textsOf(events, 'notice')[0]).toBe('usage limit five_hour: rejected, resets at 2026-11-15T16:26:40.000Z');
  });

  it('takes it from the text where there is no event', () => {
    const result = { ...JSON.parse(recorded('rate-limit').at(-1)!), result: "You've hit your limit · resets 2pm (UTC)" };
    const { verdict } = replay([JSON.stringify(result)], EXIT_1);
    expect(verdict).toMatchObject({ error: { resetsAt: Date.parse('2026-11-15T14:00:00Z') } });
  });

  it('ignores the reset time of a limit that was not reached', () => {
    const event = limit({ status: 'allowed', resetsAt: 1794760000, rateLimitType: 'seven_day', overageStatus: 'rejected' });
    const { events, verdict } = replay([event, ...recorded('rate-limit')], EXIT_1);
    expect(verdict).toMatchObject({ error: { kind: 'agent_usage_limit', resetsAt: NOW + 1_000 } });
    expect(textsOf(events, 'notice').join()).not.toContain('seven_day');
  });

  it('waits as long as the remote asked for when it refused the last try', () => {
    const tries = [1, 2].map((attempt) =>
      JSON.stringify({ type: 'system', subtype: 'api_retry', attempt, max_retries: 2, retry_delay_ms: 2000, error_status: 429 }),
    );
    const rest = recorded('rate-limit').filter((line) => !line.includes('api_retry'));
    expect(replay([...tries, ...rest], EXIT_1).verdict).toMatchObject({ error: { resetsAt: NOW + 2_000 } });
    expect(replay(rest, EXIT_1).verdict).toMatchObject({ error: { kind: 'agent_usage_limit', resetsAt: NOW + 60_000 } });
    const own = tries.map((line) => line.replace('2000', '579.92'));
    expect(replay([...own, ...rest], EXIT_1).verdict).toMatchObject({ error: { resetsAt: NOW + 60_000 } });
  });

  it('of an account without credit names no time', () => {
    const { verdict } = replay(recorded('no-credit'), EXIT_1);
    expect(verdict).toMatchObject({ error: { kind: 'agent_usage_limit', resetsAt: undefined } });
  });

  it.each([
    { stderr: 'Error: something broke', code: 1, kind: 'agent_exited' },
    { stderr: "error: unknown option '--nosuch'", code: 1, kind: 'agent_exited' },
    { stderr: 'Invalid API key · Please run /login', code: 1, kind: 'agent_not_logged_in' },
    { stderr: 'env: claude: No such file or directory', code: 127, kind: 'agent_not_found' },
    { stderr: '', code: 0, kind: 'agent_exited' },
  ])('without a line of output and "$stderr" is $kind', ({ stderr, code, kind }) => {
    const { verdict } = replay([], { code, signal: null, stderr });
    expect(kindOf(verdict)).toBe(kind);
    expect(messageOf(verdict)).toContain(stderr);
  });

  it('is a protocol error when the program speaks another language', () => {
    expect(kindOf(replay(['Hello!', 'How can I help?'], EXIT_0).verdict)).toBe('agent_protocol_error');
  });

  it('is a success with a notice when the process fails after its result', () => {
    const { verdict } = replay(recorded('success'), EXIT_1);
    expect(verdict).toEqual({ type: 'ok', notices: ['claude exited with code 1 after it had reported success'] });
  });

  it('does not blame an error that the agent got over', () => {
    const [init, ...rest] = recorded('success');
    const lines = [init!, recorded('rate-limit').at(-2)!, ...rest.slice(0, -1)];
    const broken = { ...JSON.parse(rest.at(-1)!), subtype: 'error_during_execution', is_error: true, result: 'oops' };
    expect(kindOf(replay([...lines, JSON.stringify(broken)], EXIT_1).verdict)).toBe('turn_failed');
  });

  it('takes neither thoughts nor blanks for work', () => {
    const message = {
      id: 'm',
      model: 'opus',
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: ' \n' },
      ],
    };
    const lines = [JSON.stringify({ type: 'assistant', message }), recorded('success').at(-1)!];
    expect(kindOf(replay(lines, EXIT_0).verdict)).toBe('agent_did_nothing');
  });

  it('says so when a tool server failed or the conversation was compacted', () => {
    const { events } = replay(
      [
        '{"type":"system","subtype":"init","session_id":"s","model":"m","mcp_servers":[{"name":"foray","status":"failed"}]}',
        '{"type":"system","subtype":"compact_boundary"}',
      ],
      EXIT_0,
    );
    expect(textsOf(events, 'notice')).toEqual([
      'the tool server foray did not start: its tools are missing',
      'the conversation was compacted',
    ]);
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

describe('damaged output', () => {
  const NAMES = ['success', 'resumed', 'server-error', 'permission-denied', 'max-turns', 'refusal', 'rate-limit', 'interrupted'];
  const damage = fc.oneof(
    fc.record({ do: fc.constant('drop' as const), at: fc.nat() }),
    fc.record({ do: fc.constant('repeat' as const), at: fc.nat() }),
    fc.record({ do: fc.constant('cut' as const), at: fc.nat(), keep: fc.nat(2000) }),
    fc.record({ do: fc.constant('overwrite' as const), at: fc.nat(), from: fc.nat(2000), with: fc.string() }),
    fc.record({ do: fc.constant('insert' as const), at: fc.nat(), line: fc.oneof(fc.string(), fc.json()) }),
    fc.record({ do: fc.constant('join' as const), at: fc.nat() }),
  );
  type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

  function apply(lines: string[], hit: Damage): void {
    const at = hit.at % Math.max(1, lines.length);
    const line = lines[at] ?? '';
    if (hit.do === 'drop') lines.splice(at, 1);
    if (hit.do === 'repeat') lines.splice(at, 0, line);
    if (hit.do === 'cut') lines[at] = line.slice(0, hit.keep);
    if (hit.do === 'overwrite') lines[at] = line.slice(0, hit.from) + hit.with + line.slice(hit.from + hit.with.length);
    if (hit.do === 'insert') lines.splice(at, 0, hit.line);
    if (hit.do === 'join') lines.splice(at, 2, line + (lines[at + 1] ?? ''));
  }

  const mayCount = (lines: readonly string[]): boolean => {
    const records = lines.map(parseLine);
    const result = records.findLast((record) => record.type === 'result');
    const work = records.some((r) => r.type === 'assistant' && !r.synthetic && (r.texts.length > 0 || r.tools.length > 0));
    return work && result !== undefined && (result.success || result.subtype.startsWith('error_max_'));
  };

  it('never crashes, never succeeds without result and work, never counts twice', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...NAMES),
        fc.array(damage, { maxLength: 8 }),
        fc.constantFrom(EXIT_0, EXIT_1),
        (name, hits, ending) => {
          const lines = recorded(name);
          const whole = lastUsage(replay(lines, EXIT_0).events);
          for (const hit of hits) apply(lines, hit);
          const { events, verdict } = replay(lines, ending);
          if (verdict.type === 'ok') expect(mayCount(lines)).toBe(true);
          // A digit may have been overwritten; then any figure may come out.
          if (hits.some((hit) => hit.do === 'overwrite' || hit.do === 'insert')) return;
          const usage = lastUsage(events);
          if (usage?.type !== 'usage') return;
          expect(whole?.type === 'usage' && usage.tokens.totalTokens <= whole.tokens.totalTokens).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('of a failed turn never turns into a success by losing parts', () => {
    const failing = fc.constantFrom(
      'server-error',
      'bad-key',
      'not-logged-in',
      'rate-limit',
      'refusal',
      'permission-denied',
      'interrupted',
    );
    fc.assert(
      fc.property(failing, fc.array(fc.record({ at: fc.nat(), keep: fc.nat(2000) }), { maxLength: 5 }), (name, cuts) => {
        const lines = recorded(name);
        for (const cut of cuts) apply(lines, { do: 'cut', ...cut });
        expect(replay(lines, EXIT_0).verdict.type).not.toBe('ok');
      }),
    );
  });

  it('of any kind is read without a throw', () => {
    const typed = fc.record({
      type: fc.constantFrom(
        'system',
        'assistant',
        'user',
        'result',
        'rate_limit_event',
        'tool_progress',
        '__proto__',
        'toString',
      ),
      subtype: fc.constantFrom('init', 'success', 'api_retry', 7),
      message: fc.oneof(fc.jsonValue(), fc.record({ content: fc.jsonValue(), usage: fc.jsonValue(), id: fc.jsonValue() })),
      usage: fc.jsonValue(),
      modelUsage: fc.jsonValue(),
      permission_denials: fc.jsonValue(),
      rate_limit_info: fc.oneof(fc.jsonValue(), fc.record({ status: fc.constant('rejected'), resetsAt: fc.double() })),
    });
    const line = fc.oneof(
      fc.string(),
      fc.json(),
      typed.map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        replay(lines, EXIT_0);
      }),
    );
  });

  it('says which line was too long', () => {
    const { events } = replay([`${'x'.repeat(100)} [line cut, 5000 bytes left out]`], EXIT_0);
    expect(textsOf(events, 'notice')).toEqual(['a line over 16 MiB was left out']);
  });

  it('keeps the word of a result that was too long to be read', () => {
    const [head] = recorded('success').at(-1)!.split('"result":');
    const cut = `${head}"result":"${'x'.repeat(500)} [line cut, 5000 bytes left out]`;
    expect(replay([...recorded('success').slice(0, -1), cut], EXIT_0).verdict.type).toBe('ok');
  });
});
