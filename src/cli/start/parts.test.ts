import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createPartLoader } from './parts.ts';

it('a part that could not be read is read again when it is wanted again', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'foray-parts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (name: string, code: string) =>
    writeFileSync(path.join(folder, name), `(function(exports,require,module,__dirname){${code}})`);
  const load = createPartLoader({
    folder,
    outside: createRequire(import.meta.url),
    cache: { find: () => undefined, add: () => {} },
    together: {},
  });
  write('outer.js', "exports.told = require('./inner.js').told;");
  expect(() => load('outer.js')).toThrow('ENOENT');
  write('inner.js', "exports.told = 'whole';");
  expect(load('outer.js')).toEqual({ told: 'whole' });
  expect(load('outer.js')).toBe(load('outer.js'));
});
