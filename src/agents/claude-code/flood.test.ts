import { afterEach, describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../domain/model/agent-event.ts';
import { createFakeClaude, FIXTURES, type FakeClaude, takeTurn } from '../../../test/support/claude-code/fake-claude.ts';

const MEGABYTES = Number(process.env['FLOOD_MB'] ?? 3);
const SESSIONS = Number(process.env['FLOOD_SESSIONS'] ?? 2);

const fakes: FakeClaude[] = [];
afterEach(async () => {
  await Promise.all(fakes.splice(0).map((fake) => fake.remove()));
});

/** Prints the recorded start of a turn, the flood, and its end. */
async function floodOf(flood: string): Promise<FakeClaude> {
  const success = `"${FIXTURES}/success.jsonl"`;
  const script = `cat >/dev/null; head -n 2 ${success}; ${flood} | head -c ${MEGABYTES * 1_000_000}; echo; tail -n 3 ${success}`;
  const fake = await createFakeClaude([script]);
  fakes.push(fake);
  return fake;
}

interface Reading {
  readonly events: readonly (readonly AgentEvent[])[];
  readonly ok: readonly boolean[];
  readonly seconds: number;
  readonly peakMb: number;
  /** The most processor time that passed without the event loop getting its turn. */
  readonly longestBusyMs: number;
}

/** Several sessions at once, while memory and the event loop are watched. */
async function readFlood(flood: string): Promise<Reading> {
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, async () => (await floodOf(flood)).open()));
  const watch = watchProcess();
  const startedAt = performance.now();
  const turns = await Promise.all(sessions.map((session) => takeTurn(session)));
  const seconds = (performance.now() - startedAt) / 1000;
  const measured = watch.stop();
  await Promise.all(sessions.map((session) => session.stop()));
  return {
    events: turns.map((turn) => turn.events),
    ok: turns.map((turn) => turn.result.ok),
    seconds,
    ...measured,
  };
}

/**
 * Memory and the event loop. Not by the clock: on a busy machine another process may hold us up for any time, and only
 * the processor time that we ourselves spend between two turns of the loop is a fault of ours.
 */
function watchProcess(): { stop(): Pick<Reading, 'peakMb' | 'longestBusyMs'> } {
  let peak = 0;
  let longestBusyMs = 0;
  let cpu = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(cpu);
    cpu = process.cpuUsage();
    longestBusyMs = Math.max(longestBusyMs, (user + system) / 1000);
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 5);
  return {
    stop() {
      clearInterval(timer);
      return { peakMb: peak / 1e6, longestBusyMs };
    },
  };
}

const ASSISTANT = `{"type":"assistant","message":{"id":"m'"$i"'","model":"x","content":[{"type":"text","text":"%s"}],"usage":{"input_tokens":5}}}`;

/** How the output floods, as shell commands. */
const FLOODS = [
  { shape: 'messages', flood: `yes '${ASSISTANT.replace(`'"$i"'`, '1').replace('%s', 'word '.repeat(20))}'` },
  {
    shape: 'tool calls with new ids',
    flood: `awk 'BEGIN { for (i = 0; ; i++) printf "{\\"type\\":\\"assistant\\",\\"message\\":{\\"id\\":\\"m%d\\",\\"model\\":\\"x\\",\\"content\\":[{\\"type\\":\\"tool_use\\",\\"id\\":\\"t%d\\",\\"name\\":\\"Bash\\"}]}}\\n", i, i }' 2>/dev/null`,
  },
  { shape: 'lines that are no JSON', flood: `yes 'Hello, how can I help you today?'` },
  { shape: 'one endless line', flood: `yes '{"type":"assistant",' | tr -d '\\n'` },
];

describe(`${SESSIONS} sessions that print ${MEGABYTES} MB each at once`, () => {
  it.each(FLOODS)('of $shape are read to the end, with few events and little memory', async ({ flood }) => {
    const reading = await readFlood(flood);
    if (process.env['FLOOD_MB']) console.log({ ...reading, events: reading.events.map((events) => events.length) });
    expect(reading.ok).toEqual(Array.from({ length: SESSIONS }, () => true));
    for (const events of reading.events) {
      expect(events.length).toBeLessThan(200 + reading.seconds * 60);
      const texts = events.flatMap((event) => (event.type === 'message' ? [event.text] : []));
      expect(texts.at(-1)).toMatch(/DONE: wrote hello\.txt$/);
      expect(texts[0]).toBe('I will write the file.');
    }
    expect(reading.peakMb).toBeLessThan(300);
    expect(reading.longestBusyMs).toBeLessThan(200);
  });
});
