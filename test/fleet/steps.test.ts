import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildCrashing } from '../faults/crashing-command.ts';
import { startPostgres } from '../support/postgres.ts';
import { openCrew, type Crew, type Role } from './crew.ts';

/**
 * Every unit of work that a leader or a worker stores is a step. At each the process is killed, the server restarted or
 * the way to it cut. All of it by `FORAY_FLEET=full npm run test:fleet -- steps`; in the suite a few steps of each sort.
 */
const FULL = process.env['FORAY_FLEET'] === 'full';
const TOGETHER = 6;
const CUT_MS = 4_000;

interface Case {
  readonly role: Role;
  readonly fault: 'killed' | 'database restarted' | 'link cut';
  /** `3 before committing` */
  readonly step: string;
}

let cli: string;
beforeAll(async () => {
  cli = await buildCrashing();
});

async function withCrew<T>(work: (crew: Crew) => Promise<T>): Promise<T> {
  const postgres = await startPostgres();
  const crew = await openCrew(postgres, cli);
  try {
    return await work(crew);
  } finally {
    await crew.close();
    await postgres.remove();
  }
}

/** How many units of work each role stores while an issue is worked on. */
function countSteps(): Promise<Record<Role, number>> {
  return withCrew(async (crew) => {
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

async function outcomeOf({ role, fault, step }: Case): Promise<Outcome> {
  return withCrew(async (crew) => {
    const hook = fault === 'killed' ? 'FORAY_TEST_CRASH_AT' : 'FORAY_TEST_FREEZE_AT';
    for (const one of ['leader', 'worker'] as const) await crew.start(one, one === role ? { [hook]: step } : {});
    await crew.startOthers();
    const reached = await Promise.race([
      crew.comesTo(role, fault === 'killed' ? 'dead' : 'stopped'),
      crew.done().then(() => false),
    ]);
    if (reached && fault === 'database restarted') await crew.restartDatabase();
    if (reached && fault === 'link cut') await crew.cutFor(role, CUT_MS);
    if (reached && fault !== 'killed') crew.wake(role);
    await crew.done();
    return { isReached: reached, faults: await crew.faults() };
  }).catch((error: unknown) => ({
    isReached: true,
    faults: [error instanceof Error ? error.message.slice(0, 300) : String(error)],
  }));
}

/** All, or some from the beginning, the middle and the end. */
function casesOf(counts: Record<Role, number>): readonly Case[] {
  const roles: readonly Role[] = ['leader', 'worker'];
  const faults: readonly Case['fault'][] = ['killed', 'database restarted', 'link cut'];
  return roles.flatMap((role) =>
    faults.flatMap((fault, index) => {
      const all = Array.from({ length: counts[role] }, (_, at) => at + 1);
      const some = [Math.ceil((counts[role] * (index + 2)) / 5)];
      const places = (FULL ? all : some).flatMap((time) => [`${time} before committing`, `${time} after committing`]);
      return (FULL ? places : places.slice(index % 2, (index % 2) + 1)).map((step) => ({ role, fault, step }));
    }),
  );
}

describe('an issue that a worker works on', () => {
  it('is done once, whatever fails at whichever step', { timeout: FULL ? 7_200_000 : 300_000 }, async () => {
    const left = [...casesOf(await countSteps())];
    const outcomes: (Outcome & { readonly what: string })[] = [];
    const work = async (): Promise<void> => {
      for (let one = left.shift(); one !== undefined; one = left.shift())
        outcomes.push({ what: `${one.role} ${one.fault} at ${one.step}`, ...(await outcomeOf(one)) });
    };
    await Promise.all(Array.from({ length: TOGETHER }, work));
    const verdict = ({ isReached, faults }: Outcome): string =>
      faults.join('; ') || (isReached ? 'none lost, none doubled' : 'not reached');
    console.log(outcomes.map((outcome) => `${outcome.what}: ${verdict(outcome)}`).join('\n'));
    // The last steps come after the end of the story now and then.
    expect(outcomes.filter(({ isReached }) => isReached).length).toBeGreaterThan(outcomes.length / 2);
    expect(outcomes.filter(({ faults }) => faults.length > 0)).toEqual([]);
  });
});
