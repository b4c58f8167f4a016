import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** A mistake that must not pass for a run that found nothing. */
const MISTAKES: readonly { script: string; args: readonly string[]; says: string }[] = [
  { script: 'test/fuzz/run.mjs', args: ['--inputs', 'many'], says: '--inputs needs a whole number from 1, got "many"' },
  { script: 'test/fuzz/run.mjs', args: ['--inputs', '0'], says: '--inputs needs a whole number from 1, got "0"' },
  { script: 'test/fuzz/run.mjs', args: ['--only', 'nobody'], says: 'no target is named like nobody; there are ' },
  { script: 'test/simulation/run.mjs', args: ['--events', '1e400'], says: '--events needs a whole number from 1, got "1e400"' },
  { script: 'test/simulation/run.mjs', args: ['--evnets', '5'], says: "Unknown option '--evnets'" },
  { script: 'bench/run.mjs', args: ['--only', 'start,stop'], says: 'no group stop; there are start, ' },
  { script: 'bench/run.mjs', args: ['--peer', 'other'], says: '--peer needs NAME=COMMAND, got other' },
  { script: 'bench/run.mjs', args: ['fleet', '--workers', '-1'], says: '--workers' },
  { script: 'bench/publish.mjs', args: ['--form', 'x.json'], says: "Unknown option '--form'" },
];

describe('a command of the project that is called wrongly', () => {
  it.each(MISTAKES)('$script $args says what is wrong and how it is called', ({ script, args, says }) => {
    const { status, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8', timeout: 60_000 });
    expect(stderr).toContain(says);
    expect(stderr).toContain('usage: npm run ');
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(status).toBe(2);
  });
});
