import { describe, expect, it } from 'vitest';
import { processorMs } from '../../../test/support/processor-time.ts';
import type { RunEvent, RunEventDetails } from '../../domain/model/run.ts';
import { selectPart, transcriptOf, transcriptQuery } from './transcript.ts';

function event(type: string, text: string, details?: RunEventDetails): RunEvent {
  return { runId: 'r', at: 0, type, text, ...(details && { details }) };
}

const call = (toolId: string, input = 'ls') => event('tool_started', 'Bash', { kind: 'call', toolId, name: 'Bash', input });
const result = (toolId: string, ok = true, output = 'out') =>
  event('tool_ended', 'Bash', { kind: 'result', toolId, name: 'Bash', input: 'ls', ok, durationMs: 5, output });

describe('a transcript', () => {
  it('has one row for a tool call, from its start to its end, also when calls overlap', () => {
    const rows = transcriptOf([call('a'), call('b'), result('b', false), event('message', 'hm'), result('a')]);
    expect(rows.map(({ number, content }) => [number, content.kind === 'call' ? content.state : content.kind])).toEqual([
      [0, 'ok'],
      [1, 'failed'],
      [3, 'message'],
    ]);
  });

  it('shows a result whose start is not kept, and a call without a result as open', () => {
    const rows = transcriptOf([result('x'), call('y')]);
    expect(rows.map(({ content }) => content.kind === 'call' && content.state)).toEqual(['ok', 'open']);
  });

  it('numbers its rows from the first event, also when that was left out', () => {
    const all = [event('message', 'a'), event('message', 'b'), event('message', 'c')];
    const cut = [event('left_out', '2 events', { kind: 'left-out', events: 2, bytes: 9 }), event('message', 'c')];
    expect(transcriptOf(all).at(-1)?.number).toBe(2);
    expect(transcriptOf(cut).at(-1)).toMatchObject({ number: 2, content: { kind: 'message', text: 'c' } });
  });

  it('shows the end, and what comes before or after a row', () => {
    const rows = transcriptOf(Array.from({ length: 400 }, (_, index) => event('message', `m${index}`)));
    expect(selectPart(rows, transcriptQuery({}))).toMatchObject({ earlier: 250, later: 0 });
    expect(selectPart(rows, transcriptQuery({ before: '250' })).rows.at(-1)?.number).toBe(249);
    expect(selectPart(rows, transcriptQuery({ after: '397' })).rows.map(({ number }) => number)).toEqual([398, 399]);
    expect(selectPart(rows, transcriptQuery({ after: '999' })).rows).toEqual([]);
  });

  it('finds text in calls, results, prompts and messages, and failures alone', () => {
    const rows = transcriptOf([
      event('turn_started', '', { kind: 'turn', turn: 1, prompt: 'Mend the PAYOUT' }),
      call('a', 'rg payout'),
      result('a', false, 'no match'),
      event('message', 'nothing here'),
    ]);
    const found = (query: Record<string, string>) => selectPart(rows, transcriptQuery(query)).rows.length;
    expect([found({ q: 'payout' }), found({ q: 'NO MATCH' }), found({ show: 'failures' }), found({ q: 'zzz' })]).toEqual([
      1, 1, 1, 0,
    ]);
  });

  it('of 5,000 events is made and cut quickly', () => {
    const events = Array.from({ length: 5000 }, (_, index) => (index % 2 === 0 ? call(`${index}`) : result(`${index - 1}`)));
    const made = () => selectPart(transcriptOf(events), transcriptQuery({ q: 'ls' }));
    expect(processorMs(() => expect(made().rows).toHaveLength(150))).toBeLessThan(200);
  });
});
