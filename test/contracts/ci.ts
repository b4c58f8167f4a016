import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CiProvider } from '../../src/ports/ci.ts';
import type { RepoKey } from '../../src/ports/scm.ts';

/** One check of a commit, in no vendor's words. `log` is what it can tell of its failure. */
export interface SeedCheck {
  readonly name: string;
  readonly result: 'green' | 'red' | 'running';
  readonly log?: string;
}

export interface CiHarness {
  readonly ci: CiProvider;
  readonly repo: RepoKey;
  /** A branch with one commit of its own that was checked like this; resolves with that commit. */
  seed(branch: string, checks: readonly SeedCheck[]): Promise<string>;
  /** False for a server that answers for a ref that is not there as for one without checks. */
  readonly tellsMissingRefs?: boolean;
  cleanUp(): Promise<void>;
}

const signal = new AbortController().signal;

/** What every `CiProvider` promises, whatever forge it talks to. */
export function ciContract(name: string, setUp: () => Promise<CiHarness>): void {
  describe(`${name} keeps the CI contract`, () => {
    let harness: CiHarness;
    beforeEach(async () => {
      harness = await setUp();
    });
    afterEach(() => harness.cleanUp());
    const read = (ref: string, maxLogLines = 50) => harness.ci.readCi({ ...harness.repo, ref, maxLogLines }, signal);

    it('is pending with an empty list where a commit has no checks', async () => {
      await harness.seed('unchecked', []);
      const none = { status: 'pending', failingCount: 0, checkRuns: [], logExcerpt: '', ref: 'unchecked' };
      expect(await read('unchecked')).toEqual(none);
    });

    it.each([
      ['all green', ['green', 'green'], { status: 'success', failingCount: 0 }],
      ['one still running', ['green', 'running'], { status: 'pending', failingCount: 0 }],
      ['one red, one running', ['red', 'running'], { status: 'failing', failingCount: 1 }],
    ] as const)('adds the checks up: %s', async (_, results, expected) => {
      await harness.seed(
        'feature/x',
        results.map((result, index) => ({ name: `job ${String(index)}`, result })),
      );
      const report = await read('feature/x', 0);
      expect(report).toMatchObject({ ...expected, logExcerpt: '', ref: 'feature/x' });
      const conclusions = { green: 'success', red: 'failure', running: 'pending' } as const;
      const runs = report.checkRuns.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      expect(runs.map(({ name: run, conclusion }) => [run, conclusion])).toEqual(
        results.map((result, index) => [`job ${String(index)}`, conclusions[result]]),
      );
      for (const { status, conclusion } of runs) expect(status === 'completed').toBe(conclusion !== 'pending');
    });

    it('shows the end of what failed, as much of it as was asked for', async () => {
      const sha = await harness.seed('red', [{ name: 'test', result: 'red', log: 'first line\nlast line' }]);
      expect((await read('red', 50)).logExcerpt).toContain('last line');
      expect((await read('red', 1)).logExcerpt.split('\n')).toHaveLength(1);
      expect((await read('red', 0)).logExcerpt).toBe('');
      expect(await read(sha)).toMatchObject({ ref: sha, status: 'failing' });
    });

    it('asks for nothing without a ref, and finds no unknown one', async () => {
      await expect(read(' ')).rejects.toMatchObject({ kind: 'tracker_payload_error' });
      const found = read('no-such-branch');
      if (harness.tellsMissingRefs ?? true) await expect(found).rejects.toMatchObject({ name: 'TrackerError' });
      else expect(await found).toMatchObject({ status: 'pending', checkRuns: [] });
    });
  });
}
