import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { viteBrowserBundles } from './bundle.mjs';

const { version } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as { version: string };

/** Tests that measure time or memory of the whole machine: they run last, one at a time. */
const MEASURING = ['test/e2e/load.test.ts', 'test/e2e/flood.test.ts', 'src/**/flood.test.ts'];

/** Half of the time is waiting for processes: twice as many as there are cores, on a small machine, keep the cores busy. */
const TOGETHER = { maxWorkers: 4, sequence: { groupOrder: 0 } };

/** What drives the built command takes longest: begun first, no core waits for it in the end. */
class EndToEndFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isUnit = ({ moduleId }: TestSpecification): boolean => moduleId.includes('/src/');
    return [...sorted.filter((file) => !isUnit(file)), ...sorted.filter(isUnit)];
  }
}

export default defineConfig({
  plugins: [viteBrowserBundles],
  define: { FORAY_VERSION: JSON.stringify(version) },
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The machine may be busy: only a fault is waited for as long as this.
    expect: { poll: { timeout: 15_000, interval: 20 } },
    sequence: { sequencer: EndToEndFirst },
    projects: [
      {
        extends: true,
        // One process runs many files: a tenth of the time was loading the same modules again for every file.
        test: {
          ...TOGETHER,
          name: 'suite',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['test/agents/**', 'test/real/**', 'test/fleet/**', ...MEASURING],
          isolate: false,
          restoreMocks: true,
        },
      },
      { extends: true, test: { name: 'measuring', include: MEASURING, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
