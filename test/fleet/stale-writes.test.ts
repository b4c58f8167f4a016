import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EFFECTS, type AskedName } from '../../src/domain/model/effect.ts';
import { buildCrashing } from '../faults/crashing-command.ts';
import type { RunningDaemon } from '../support/daemon.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { openScenario, WAYS, type Scenario, type Way } from './scenario.ts';

/** The version of the one that sleeps. */
const OLD = '9.9.9-old';
const TOGETHER = 4;
/** Ten seconds are promised; so many fleets at once keep a machine busy, which is late then. */
const LATE_MS = 20_000;
/** `FORAY_FLEET_ONLY=merge`: only the places that hold it. */
const ONLY = new RegExp(process.env['FORAY_FLEET_ONLY'] ?? '');

let postgres: TestPostgres;
let cli: string;
beforeAll(async () => {
  [postgres, cli] = await Promise.all([startPostgres(), buildCrashing(OLD)]);
});
afterAll(() => postgres?.remove());

interface ExternalWrite {
  readonly what: string;
  readonly effect: AskedName;
  /** The place right before it leaves. */
  readonly step: RegExp;
  readonly way: Way;
}

/** Every write that somebody outside would see, and what it is part of. */
const WRITES: readonly ExternalWrite[] = [
  { what: 'the move to in_progress_state', effect: 'start-run', step: /^before sending PUT .*\/issues\/1$/, way: 'at once' },
  { what: 'the push of the branch', effect: 'start-run', step: /^before pushing the branch$/, way: 'at once' },
  { what: 'the opening of the request', effect: 'start-run', step: /^before sending POST .*\/merge_requests$/, way: 'at once' },
  { what: 'the handoff', effect: 'hand-off', step: /^before sending PUT .*\/issues\/1$/, way: 'at once' },
  { what: 'a comment', effect: 'write-out', step: /^before sending POST .*\/notes$/, way: 'at once' },
  { what: 'the label of an escalation', effect: 'write-out', step: /^before sending PUT .*\/issues\/1$/, way: 'at once' },
  { what: 'a message', effect: 'write-out', step: /^before sending POST \/hook$/, way: 'at once' },
  { what: 'the merge', effect: 'merge', step: /^before sending PUT .*\/merge$/, way: 'at once' },
  { what: 'the entry in a merge train', effect: 'merge', step: /^before sending POST .*\/merge_trains\//, way: 'merge train' },
  { what: 'the entry in a merge queue', effect: 'merge', step: /^before sending POST \/graphql$/, way: 'merge queue' },
  { what: 'the deletion of the branch', effect: 'delete-branch', step: /^before sending DELETE .*\/branches\//, way: 'at once' },
  { what: 'the removal of a label', effect: 'remove-label', step: /^before sending PUT .*\/merge_requests\/1$/, way: 'at once' },
  { what: 'the completion', effect: 'complete', step: /^before sending PUT .*\/issues\/1$/, way: 'at once' },
];

/** A place right before a write leaves, and the effect that it is for. */
interface Place {
  readonly way: Way;
  readonly effect: string;
  /** For the how manieth time. */
  readonly time: number;
  readonly step: string;
}

/** Lives through the scenario once and notes every place at which something is about to be written. */
async function placesOf(way: Way): Promise<readonly Place[]> {
  const scenario = await openScenario(await postgres.createDatabase(), way);
  try {
    const passed = scenario.ground.path('steps');
    const daemon = await scenario.ground.start(['--port', '0'], { cli, env: { ...scenario.env, FORAY_TEST_STEPS: passed } });
    await scenario.play();
    expect(await scenario.faults()).toEqual([]);
    await daemon.stop();
    const steps = readFileSync(passed, 'utf8').trim().split('\n');
    return way === 'at once' ? choose(steps, way) : chooseQueue(steps, way);
  } finally {
    await scenario.close();
  }
}

/** One place for each sort of write of each effect. Several may be under way: it is of the latest that sends such a thing. */
function choose(steps: readonly string[], way: Way): readonly Place[] {
  const places = new Map<string, Place>();
  const times = new Map<string, number>();
  const latest: string[] = [];
  for (const step of steps) {
    const time = (times.get(step) ?? 0) + 1;
    times.set(step, time);
    const begun = /^before ([a-z-]+)$/.exec(step)?.[1];
    if (begun !== undefined && begun in EFFECTS && EFFECTS[begun as keyof typeof EFFECTS].isWrite) latest.unshift(begun);
    const isWrite = step.startsWith('before sending ') || step === 'before pushing the branch';
    const sends = (one: string): boolean => WRITES.some((write) => write.effect === one && write.step.test(step));
    const effect = latest.find(sends) ?? latest[0] ?? '';
    if (isWrite && !places.has(`${effect} ${step}`)) places.set(`${effect} ${step}`, { way, effect, time, step });
  }
  return [...places.values()];
}

/** Whatever is sent between the wish to merge and its answer: the entry in the queue is the last of it. */
function chooseQueue(steps: readonly string[], way: Way): readonly Place[] {
  const begin = steps.indexOf('before merge');
  const end = steps.findIndex((step, index) => index > begin && step.startsWith('answered by merge'));
  return steps.slice(begin, end).flatMap((step, index) => {
    const time = steps.slice(0, begin + index + 1).filter((one) => one === step).length;
    return step.startsWith('before sending POST ') ? [{ way, effect: 'merge', time, step }] : [];
  });
}

interface Outcome {
  readonly place: string;
  readonly faults: readonly string[];
}

/** The leader stands still right before the write; another one takes over; the old one wakes up and must write nothing. */
async function freezeAt({ way, effect, time, step }: Place): Promise<Outcome> {
  const scenario = await openScenario(await postgres.createDatabase(), way);
  const place = `${effect}: ${step} (${time})`;
  try {
    const env = { ...scenario.env, FORAY_TEST_FREEZE_AT: `${time} ${step}` };
    const old = await scenario.ground.start(['--port', '0'], { cli, env });
    const next = await scenario.ground.start(['--port', '0'], { env: scenario.env });
    const played = scenario.play();
    played.catch(() => {});
    const isFrozen = await Promise.race([becomesFrozen(old), played.then(() => false)]);
    if (!isFrozen) return { place, faults: [] };
    const frozenAt = Date.now();
    await leads(next);
    const tookMs = Date.now() - frozenAt;
    await played;
    const faults = [...(await scenario.faults()), ...(tookMs < LATE_MS ? [] : [`the standby took over after ${tookMs} ms`])];
    return { place, faults: [...faults, ...(await wake(old, scenario))] };
  } catch (error) {
    return { place, faults: [error instanceof Error ? error.message.slice(0, 300) : String(error)] };
  } finally {
    await scenario.close();
  }
}

async function becomesFrozen({ pid }: RunningDaemon): Promise<boolean> {
  for (;;) {
    const state = /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
    if (state === 'T') return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function leads(daemon: RunningDaemon): Promise<void> {
  while (!daemon.records().some(({ msg }) => msg === 'leading')) await new Promise((resolve) => setTimeout(resolve, 50));
}

/**
 * What the one that slept does when it wakes up: nothing that anybody outside would see. Requests of reactions do not tell the
 * version; merges and entries in queues are counted instead, whoever asked for them.
 */
async function wake(old: RunningDaemon, scenario: Scenario): Promise<readonly string[]> {
  const [writes, head] = [scenario.writesOf(OLD), await scenario.head()];
  old.signal('SIGCONT');
  await old.record('no longer leading, standing by');
  await delay(1_000);
  const more = scenario.writesOf(OLD).slice(writes.length);
  const pushed = (await scenario.head()) === head ? [] : ['it pushed'];
  return [...more.map((write) => `the old leader wrote ${write}`), ...pushed, ...(await scenario.faults())];
}

describe('a leader that slept right before a write', () => {
  it('does none of them, of whatever kind', { timeout: 600_000 }, async () => {
    const places = (await Promise.all(Object.keys(WAYS).map((way) => placesOf(way as Way)))).flat();
    const isAt = (place: Place) => (write: ExternalWrite) =>
      write.way === place.way && write.effect === place.effect && write.step.test(place.step);
    expect(WRITES.filter((write) => !places.some((place) => isAt(place)(write)))).toEqual([]);
    expect(places.filter((place) => !WRITES.some(isAt(place)))).toEqual([]);
    // Workspaces are on this machine: nobody outside sees them go.
    const external = Object.entries(EFFECTS).flatMap(([name, { isWrite }]) =>
      isWrite && name !== 'remove-workspace' ? [name] : [],
    );
    expect([...new Set<string>(WRITES.map(({ effect }) => effect))].toSorted()).toEqual(external.toSorted());
    const left = places.filter(({ effect, step }) => ONLY.test(`${effect} ${step}`));
    const outcomes: Outcome[] = [];
    const work = async (): Promise<void> => {
      for (let place = left.shift(); place !== undefined; place = left.shift()) outcomes.push(await freezeAt(place));
    };
    await Promise.all(Array.from({ length: TOGETHER }, work));
    console.log(outcomes.map(({ place, faults }) => `${place}: ${faults.join('; ') || 'wrote nothing'}`).join('\n'));
    expect(outcomes.filter(({ faults }) => faults.length > 0)).toEqual([]);
  });
});
