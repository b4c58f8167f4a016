import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { createCaseCounter } from './case-counter.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };

/** Suites against real servers, named by their addresses in the environment. Without them they are skipped. */
export default defineConfig({
  define: { FORAY_VERSION: JSON.stringify(version) },
  test: {
    include: ['test/real/**/*.test.ts'],
    reporters: ['default', createCaseCounter()],
    testTimeout: 60_000,
    hookTimeout: 180_000,
    maxWorkers: 1,
  },
});
