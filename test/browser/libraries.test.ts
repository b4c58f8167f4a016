import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { chromiumProgram } from './chromium.ts';

/** The libraries that a plain Node image lacks. */
const ITS_OWN = ['libnss3.so', 'libnssutil3.so', 'libnspr4.so'];

it.runIf(process.platform === 'linux')(
  'the browser takes its libraries from its own package, also where the machine has them',
  async () => {
    const { executablePath, home, env } = await chromiumProgram();
    // The loader tells what it would load from where, and runs nothing.
    const { stdout } = spawnSync(executablePath, [], { encoding: 'utf8', env: { ...env, LD_TRACE_LOADED_OBJECTS: '1' } });
    const places = new Map(
      [...stdout.matchAll(/^\s*(\S+) => (.+?)(?: \(0x[0-9a-f]+\))?$/gm)].map(([, name, place]) => [name, place]),
    );
    for (const name of ITS_OWN) expect(places.get(name)).toMatch(new RegExp(`^${home}/`));
    expect([...places.values()].filter((place) => place === 'not found')).toEqual([]);
  },
);
