import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLine } from './parse.ts';
import {
  NOW,
  EXIT_0,
  EXIT_1,
  recorded,
  replay,
  kindOf,
  messageOf,
  textsOf,
  lastUsage,
} from '../../../test/support/claude-code/replay.ts';

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
        { type: 'text', text: '\u200b' },
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
