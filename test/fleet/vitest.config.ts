import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };

/** Suites on a real PostgreSQL, which they start themselves: the database shared by several daemons and workers. */
export default defineConfig({
  define: { FORAY_VERSION: JSON.stringify(version) },
  test: {
    include: ['test/fleet/**/*.test.ts'],
    env: { FORAY_FLEET: process.env['FORAY_FLEET'] ?? 'some' },
    testTimeout: 60_000,
    hookTimeout: 90_000,
    maxWorkers: 2,
  },
});
