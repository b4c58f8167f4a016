import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EFFECTS } from '../../src/domain/model/effect.ts';
import { buildCrashing } from '../faults/crashing-command.ts';
import type { RunningDaemon } from '../support/daemon.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { openScenario, type Scenario } from './scenario.ts';

const VERSION = '9.9.9-old';
const TOGETHER = 4;
/** `FORAY_FLEET_ONLY=merge`: only the places that hold it. */
const ONLY = new RegExp(process.env['FORAY_FLEET_ONLY'] ?? '');

let postgres: TestPostgres;
let cli: string;
beforeAll(async () => {
  [postgres, cli] = await Promise.all([startPostgres(), buildCrashing(VERSION)]);
});
afterAll(() => postgres?.remove());

/** A place right before a write leaves, and the effect that it is for. */
interface Place {
  readonly effect: string;
  /** For the how manieth time. */
  readonly time: number;
  readonly step: string;
}

/** Lives through the scenario once and notes every place at which something is about to be written. */
async function placesOf(): Promise<readonly Place[]> {
  const scenario = await openScenario(await postgres.createDatabase());
  try {
    const passed = scenario.ground.path('steps');
    const daemon = await scenario.ground.start(['--port', '0'], { cli, env: { ...scenario.env, FORAY_TEST_STEPS: passed } });
    await scenario.play();
    expect(await scenario.faults()).toEqual([]);
    // Its writes are known as its own: otherwise nothing would be seen below.
    expect(scenario.writesOf(VERSION).length).toBeGreaterThan(5);
    await daemon.stop();
    return choose(readFileSync(passed, 'utf8').trim().split('\n'));
  } finally {
    await scenario.close();
  }
}

/** One place for each sort of write of each effect. */
function choose(steps: readonly string[]): readonly Place[] {
  const places = new Map<string, Place>();
  const times = new Map<string, number>();
  let effect = '';
  for (const step of steps) {
    const time = (times.get(step) ?? 0) + 1;
    times.set(step, time);
    const begun = /^before ([a-z-]+)$/.exec(step)?.[1];
    if (begun !== undefined && begun in EFFECTS && EFFECTS[begun as keyof typeof EFFECTS].isWrite) effect = begun;
    const isWrite = step.startsWith('before sending ') || step === 'before pushing the branch';
    if (isWrite && !places.has(`${effect} ${step}`)) places.set(`${effect} ${step}`, { effect, time, step });
  }
  return [...places.values()];
}

interface Outcome {
  readonly place: string;
  readonly faults: readonly string[];
}

/** The leader stands still right before the write; another one takes over; the old one wakes up and must write nothing. */
async function freezeAt({ effect, time, step }: Place): Promise<Outcome> {
  const scenario = await openScenario(await postgres.createDatabase());
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
    const faults = [...(await scenario.faults()), ...(tookMs < 10_000 ? [] : [`the standby took over after ${tookMs} ms`])];
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

/** What the one that slept does when it wakes up: nothing that anybody outside would see. */
async function wake(old: RunningDaemon, scenario: Scenario): Promise<readonly string[]> {
  const [writes, head] = [scenario.writesOf(VERSION), await scenario.head()];
  old.signal('SIGCONT');
  await old.record('no longer leading, standing by');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const more = scenario.writesOf(VERSION).slice(writes.length);
  return [...more.map((write) => `the old leader wrote ${write}`), ...((await scenario.head()) === head ? [] : ['it pushed'])];
}

describe('a leader that slept right before a write', () => {
  it('does none of them, of whatever kind', { timeout: 600_000 }, async () => {
    const places = await placesOf();
    const kinds = new Set(places.map(({ effect }) => effect));
    // Workspaces are on this machine: nobody outside sees them go.
    const external = Object.entries(EFFECTS).flatMap(([name, { isWrite }]) =>
      isWrite && name !== 'remove-workspace' ? [name] : [],
    );
    expect([...kinds].toSorted()).toEqual(external.toSorted());
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
