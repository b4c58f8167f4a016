import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

const { version } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as { version: string };

export default defineConfig({
  define: { FORAY_VERSION: JSON.stringify(version) },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/agents/**', 'node_modules/**'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    // Without it a style sheet imported as text would be empty in tests.
    css: true,
  },
});
