import { defineConfig } from 'vitest/config';

/** Programs on which the suite does not pass yet: tried with MORE_AGENTS=1, and no part of the gate. */
const UNPROVEN = ['claude-agent-acp', 'copilot', 'opencode', 'qwen-code'].map((name) => `test/agents/${name}.test.ts`);

/** Two programs at a time: each takes 300 MB and more, and a good part of a core while it starts. */
export default defineConfig({
  test: {
    include: ['test/agents/*.test.ts'],
    exclude: process.env['MORE_AGENTS'] ? [] : UNPROVEN,
    testTimeout: 180_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
