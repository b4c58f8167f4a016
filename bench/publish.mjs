// `npm run bench:publish`: measures everything and writes figures, machine and chart into docs/benchmarks.md. With
// `-- --from RESULT.json` it only writes, from what `npm run bench -- --json RESULT.json` measured on this machine before.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { readOptions } from '../test/support/options.mjs';
import { chartOf } from './chart.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = readOptions('npm run bench:publish -- [--from RESULT.json]', { from: { type: 'string' } });
const file = values.from ?? `${root}/node_modules/.cache/foray-bench.json`;
if (values.from === undefined) {
  mkdirSync(`${root}/node_modules/.cache`, { recursive: true });
  const { status } = spawnSync(process.execPath, [`${root}/bench/run.mjs`, '--json', file], { stdio: 'inherit' });
  // 1 is a missed goal, which is published too; anything else measured nothing, and what was measured before is not of today.
  if (status !== 0 && status !== 1) process.exit(status ?? 1);
  process.exitCode = status;
}
const rows = JSON.parse(readFileSync(file, 'utf8'));
const page = `${root}/docs/benchmarks.md`;
writeFileSync(`${root}/docs/benchmarks.svg`, chartOf(rows));
writeFileSync(page, readFileSync(page, 'utf8').replace(/(?<=^## Figures\n).*?(?=^## )/ms, `\n${figures()}\n`));

function figures() {
  const cpu = os.cpus();
  const machine = `${cpu.length} cores of ${cpu[0]?.model.trim() ?? 'an unknown processor'}, ${(os.totalmem() / 2 ** 30).toFixed(0)} GiB, ${os.type()} ${os.release()}, Node ${process.version}`;
  const missed = rows.filter(({ ok }) => !ok).length;
  return [
    `Taken on ${new Date().toISOString().slice(0, 10)} on ${machine}, by \`npm run bench:publish\`. ${missed === 0 ? 'Every goal was met.' : `${missed} of ${rows.length} rows missed their goal.`}`,
    '',
    '| Row | Measured | Floor | Ratio | Goal | |',
    '|---|---|---|---|---|---|',
    ...rows.map(lineOf),
    '',
    '![Each row that has a floor, as a bar of its ratio, with its goal as a line](benchmarks.svg)',
    '',
  ].join('\n');
}

function lineOf({ row, value, unit, floor, ratio, goal, ok }) {
  const shown = (figure) => (figure === null ? '' : `${short(figure)} ${unit}`.trim());
  const cells = [
    row,
    shown(value),
    shown(floor),
    ratio === null ? '' : `${ratio.toFixed(2)} x`,
    goal.replace('<=', 'at most'),
    ok ? '' : 'missed',
  ];
  return `| ${cells.join(' | ')} |`;
}

function short(figure) {
  return Number.isInteger(figure) ? String(figure) : figure.toFixed(figure < 10 ? 2 : figure < 100 ? 1 : 0);
}
