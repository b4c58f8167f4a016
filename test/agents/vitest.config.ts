import { defineConfig } from 'vitest/config';

/** Two programs at a time: each takes 300 MB and more, and a good part of a core while it starts. */
export default defineConfig({
  test: {
    include: ['test/agents/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
