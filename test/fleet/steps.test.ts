import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCrashing } from '../faults/crashing-command.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { createChance } from '../support/random.ts';
import { openCrew, type Crew, type Role } from './crew.ts';
import { chooseHosts } from './hosts.ts';

/**
 * Every unit of work that a leader or a worker stores is a step. At each the process is killed, the server restarted or
 * the way to it cut: for a moment, and until others have taken over. All of it by
 * `FORAY_FLEET=full npm run test:fleet -- steps`, with hosts in network namespaces where those are allowed;
 * in the suite a few steps of each sort, with plain processes.
 */
const FULL = process.env['FORAY_FLEET'] === 'full';
/** They wait most of the time. */
const TOGETHER = FULL ? 10 : 6;
const CUT_MS = 4_000;
/** `FORAY_FLEET_ONLY='leader killed at 3 '`: only the cases that hold it. */
const ONLY = new RegExp(process.env['FORAY_FLEET_ONLY'] ?? '');
/** Longer than a leader or a worker is waited for. */
const CUT_OFF_MS: Readonly<Record<Role, number>> = { leader: 15_000, worker: 40_000 };

const FAULTS = ['killed', 'database restarted', 'link cut', 'cut off'] as const;

interface Case {
  readonly role: Role;
  readonly fault: (typeof FAULTS)[number];
  /** `3 before committing` */
  readonly step: string;
}

const HOSTS = chooseHosts(FULL ? 'namespaces' : 'processes');

let cli: string;
let servers: TestPostgres[];
beforeAll(async () => {
  cli = await buildCrashing();
  servers = await Promise.all(Array.from({ length: TOGETHER }, () => startPostgres()));
});
afterAll(() => Promise.all(servers.map((server) => server.remove())));

async function withCrew<T>(postgres: TestPostgres, work: (crew: Crew) => Promise<T>): Promise<T> {
  const crew = await openCrew(postgres, cli, HOSTS);
  try {
    return await work(crew);
  } catch (error) {
    console.log(crew.log());
    throw error;
  } finally {
    await crew.close();
  }
}

/** How many units of work each role stores while an issue is worked on. */
function countSteps(postgres: TestPostgres): Promise<Record<Role, number>> {
  return withCrew(postgres, async (crew) => {
    await crew.start('leader', { FORAY_TEST_STEPS: crew.path('steps-leader') });
    await crew.start('worker', { FORAY_TEST_STEPS: crew.path('steps-worker') });
    await crew.done();
    expect(await crew.faults()).toEqual([]);
    const count = (role: Role): number =>
      readFileSync(crew.path(`steps-${role}`), 'utf8')
        .split('\n')
        .filter((step) => step === 'before committing').length;
    return { leader: count('leader'), worker: count('worker') };
  });
}

interface Outcome {
  readonly isReached: boolean;
  readonly faults: readonly string[];
}

async function outcomeOf(postgres: TestPostgres, { role, fault, step }: Case): Promise<Outcome> {
  return withCrew(postgres, async (crew) => {
    const hook = fault === 'killed' ? 'FORAY_TEST_CRASH_AT' : 'FORAY_TEST_FREEZE_AT';
    for (const one of ['leader', 'worker'] as const) await crew.start(one, one === role ? { [hook]: step } : {});
    await crew.startOthers();
    const reached = await Promise.race([
      crew.comesTo(role, fault === 'killed' ? 'dead' : 'stopped'),
      crew.done().then(() => false),
    ]);
    if (reached && fault === 'database restarted') await crew.restartDatabase();
    if (reached && fault === 'link cut') crew.cutFor(role, CUT_MS);
    if (reached && fault === 'cut off') crew.cutFor(role, CUT_OFF_MS[role]);
    if (reached && fault !== 'killed') crew.wake(role);
    await crew.done();
    const faults = await crew.faults();
    if (faults.length > 0) console.log(crew.log());
    return { isReached: reached, faults };
  }).catch((error: unknown) => ({
    isReached: true,
    faults: [error instanceof Error ? error.message.slice(0, 300) : String(error)],
  }));
}

/** All, or some from the beginning, the middle and the end. */
function casesOf(counts: Record<Role, number>): readonly Case[] {
  const roles: readonly Role[] = ['leader', 'worker'];
  const faults = FULL ? FAULTS : FAULTS.slice(0, 3);
  return roles.flatMap((role) =>
    faults.flatMap((fault, index) => {
      const all = Array.from({ length: counts[role] }, (_, at) => at + 1);
      const some = [Math.ceil((counts[role] * (index + 2)) / 5)];
      const places = (FULL ? all : some).flatMap((time) => [`${time} before committing`, `${time} after committing`]);
      return (FULL ? places : places.slice(index % 2, (index % 2) + 1)).map((step) => ({ role, fault, step }));
    }),
  );
}

function nameOf({ role, fault, step }: Case): string {
  return `${role} ${fault} at ${step}`;
}

function verdictOf({ isReached, faults }: Outcome): string {
  return faults.join('; ') || (isReached ? 'none lost, none doubled' : 'not reached');
}

describe('an issue that a worker works on', () => {
  it('is done once, whatever fails at whichever step', { timeout: FULL ? 7_200_000 : 300_000 }, async () => {
    const chance = createChance(1);
    // In no order, so that a walk that is cut short has seen something of everything.
    const left = casesOf(await countSteps(servers[0]!))
      .map((one) => ({ one, place: chance.below(1_000_000) }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ one }) => one)
      .filter((one) => ONLY.test(nameOf(one)));
    const outcomes: (Outcome & { readonly what: string })[] = [];
    const work = async (server: TestPostgres): Promise<void> => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) {
        const outcome = { what: nameOf(one), ...(await outcomeOf(server, one)) };
        outcomes.push(outcome);
        console.log(`${outcome.what}: ${verdictOf(outcome)} (${left.length} left)`);
      }
    };
    await Promise.all(servers.map(work));
    // The last steps come after the end of the scenario now and then.
    expect(outcomes.filter(({ isReached }) => isReached).length).toBeGreaterThan(outcomes.length / 2);
    expect(outcomes.filter(({ faults }) => faults.length > 0)).toEqual([]);
  });
});
