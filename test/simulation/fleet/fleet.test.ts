import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/domain/decide.ts';
import { EFFECTS } from '../../../src/domain/model/effect.ts';
import { Violation } from '../simulate.ts';
import { RECORDS } from './recorded.ts';
import { simulateFleet, type FleetFlaws } from './simulate-fleet.ts';

const SEEDS = Array.from({ length: 4 }, (_, index) => index + 1);
const EVENTS_PER_SEED = 2_000;
/** A flaw may be met late: more of them are lived, until one breaks. */
const BREAKING = Array.from({ length: 40 }, (_, index) => index + 1);

describe('several daemons and workers on one database', () => {
  it('keep their promises whoever is killed, stands still or is cut off', { timeout: 60_000 }, () => {
    const results = SEEDS.map((seed) => simulateFleet(seed, EVENTS_PER_SEED));
    const sum = (of: (result: (typeof results)[number]) => number): number => results.reduce((all, one) => all + of(one), 0);
    expect(sum(({ epochs }) => epochs)).toBeGreaterThan(30);
    expect(sum(({ crashes }) => crashes)).toBeGreaterThan(30);
    for (const write of Object.keys(RECORDS).filter((name) => name !== 'start-run')) {
      expect(
        sum(({ done }) => done.get(write) ?? 0),
        write,
      ).toBeGreaterThan(0);
    }
  });

  it('are asked for every write that the core knows', () => {
    const writes = Object.entries(EFFECTS).filter(([, { isWrite }]) => isWrite);
    expect(Object.keys(RECORDS).toSorted()).toEqual(writes.map(([name]) => name).toSorted());
  });
});

const FLAWS: Readonly<Record<string, FleetFlaws>> = {
  'the database takes writes of any epoch': { ignoresEpoch: true },
  'a new leader does not wait for the sessions of the one before': { resumesAtOnce: true },
  'what a person asks for shortens that wait': {
    decide: (state, event, now) => decide({ ...state, endingElsewhere: new Map() }, event, now),
  },
  'leaders write without asking whether they lead': { isGateOpen: true },
};

describe('a broken fence is caught', () => {
  it.each(Object.entries(FLAWS))('%s', { timeout: 60_000 }, (_name, flaws) => {
    expect(() => BREAKING.forEach((seed) => simulateFleet(seed, EVENTS_PER_SEED, flaws))).toThrow(Violation);
  });
});
