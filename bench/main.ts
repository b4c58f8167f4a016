import { writeFile } from 'node:fs/promises';
import os from 'node:os';
import { readOptions } from '../test/support/options.mjs';
import { apiRows } from './rows/api.ts';
import { historyRows, memoryRows } from './rows/memory.ts';
import { peerRows } from './rows/peer.ts';
import { pollRows } from './rows/poll.ts';
import { requestRows } from './rows/requests.ts';
import { growthRows, sessionRows } from './rows/sessions.ts';
import { slotRows } from './rows/slot.ts';
import { startRows } from './rows/start.ts';
import { tickRows } from './rows/tick.ts';
import type { Program } from './support/daemon.ts';
import { removeFolders } from './support/folders.ts';
import { watchStolen } from './support/stolen.ts';
import { formatRow, heading, type Row } from './table.ts';

const GROUPS: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  start: startRows,
  poll: pollRows,
  slot: slotRows,
  api: apiRows,
  tick: tickRows,
  sessions: sessionRows,
  history: historyRows,
  requests: requestRows,
  memory: memoryRows,
  growth: growthRows,
};

/** These count and weigh, and take no times that others could spoil: they go side by side, at the end. */
const UNTIMED: ReadonlySet<string> = new Set(['requests', 'memory']);

const { values, refuse } = readOptions('npm run bench -- [--json FILE] [--only GROUP,…] [--peer NAME=COMMAND]…', {
  json: { type: 'string' },
  /** NAME=COMMAND: another program of this shape, measured beside ours. */
  peer: { type: 'string', multiple: true, default: [] },
  /** Only these groups, separated by commas. */
  only: { type: 'string' },
});

const chosen = values.only?.split(',') ?? Object.keys(GROUPS);
const groups = chosen.map((name) => ({ name, measure: GROUPS[name] ?? unknownGroup(name) }));
const peers = values.peer.map(peerOf);
const rows: Row[] = [];
const begin = performance.now();
const stolen = watchStolen();
console.log(`node ${process.version}, ${os.cpus().length} cores of ${os.cpus()[0]?.model.trim() ?? 'an unknown processor'}`);
console.log(heading());
const seconds = new Map<string, number>();
for (const group of groups) if (!UNTIMED.has(group.name)) tell(await timed(group));
const untimed = groups.filter(({ name }) => UNTIMED.has(name));
for (const found of await Promise.all(untimed.map(timed))) tell(found);
if (peers.length > 0) tell(await peerRows(peers));
const each = [...seconds]
  .map(([name, taken]) => `${name} ${taken.toFixed(0)}${UNTIMED.has(name) ? ' beside others' : ''}`)
  .join(', ');
console.log(`${((performance.now() - begin) / 1000).toFixed(0)} s: ${each}`);
const share = stolen();
if (share !== null) console.log(`the host gave ${(share * 100).toFixed(1)} % of the processors' time to others meanwhile`);
await removeFolders();
if (values.json) await writeFile(values.json, `${JSON.stringify(rows, null, 2)}\n`);
const missed = rows.filter(({ ok }) => !ok);
if (missed.length > 0) console.error(`${missed.length} goals missed: ${missed.map(({ row }) => row).join('; ')}`);
process.exit(missed.length > 0 ? 1 : 0);

/** Notes how long the group took. */
async function timed({ name, measure }: (typeof groups)[number]): Promise<readonly Row[]> {
  const from = performance.now();
  const found = await measure();
  seconds.set(name, (performance.now() - from) / 1000);
  return found;
}

function tell(found: readonly Row[]): void {
  for (const row of found) console.log(formatRow(row));
  rows.push(...found);
}

function unknownGroup(name: string): never {
  return refuse(`no group ${name}; there are ${Object.keys(GROUPS).join(', ')}`);
}

function peerOf(text: string): Program {
  const [name = '', command = ''] = text.split(/=(.*)/s);
  if (command === '') refuse(`--peer needs NAME=COMMAND, got ${text}`);
  return { name, command: command.split(' ').filter((word) => word !== '') };
}
