import { fileURLToPath } from 'node:url';
import { readOptions } from '../support/options.mjs';
import { fuzz, keepSeed } from './run.ts';
import { TARGETS } from './targets.ts';

const { values, count, refuse } = readOptions('npm run fuzz -- [--inputs N] [--seed S] [--only NAME]', {
  /** Inputs for each target. */
  inputs: { type: 'string', default: '10000' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  /** Only targets whose name holds this. */
  only: { type: 'string', default: '' },
});
const folder = process.env['FORAY_FUZZ_SEEDS'] ?? fileURLToPath(new URL('seeds', import.meta.url));
const [inputs, seed] = [count('inputs'), count('seed', 0)];
const targets = TARGETS.filter(({ name }) => name.includes(values.only));
if (targets.length === 0)
  refuse(`no target is named like ${values.only}; there are ${TARGETS.map(({ name }) => name).join(', ')}`);
console.log(`seed ${seed}, ${inputs.toLocaleString('en')} inputs a target`);
// The refusal of an input is an error of ours, and most of the time would go into its stack trace.
Error.stackTraceLimit = 0;
for (const target of targets) {
  const begin = performance.now();
  const usedBefore = process.cpuUsage();
  const finding = await fuzz(target, { inputs, seed, folder });
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  const { user, system } = process.cpuUsage(usedBefore);
  const used = ((user + system) / 1e6).toFixed(1);
  console.log(
    `${target.name.padEnd(40)} ${finding === null ? `nothing in ${seconds} s, ${used} s of processor time` : `FOUND ${finding.error}, kept as ${keepSeed(target, folder, finding.input)}`}`,
  );
  if (finding !== null) process.exitCode = 1;
}
process.exit();
