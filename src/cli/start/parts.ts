import { isAscii } from 'node:buffer';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Script } from 'node:vm';
import type { CodeCache } from './code-cache.ts';

/** What a part is: a function that is given what every CommonJS module has. */
type Part = (exports: unknown, require: (name: string) => unknown, module: { exports: unknown }, __dirname: string) => void;

/** What a file exports that several parts lie in: what each of them does, by its name. */
type Group = Readonly<Record<string, unknown>>;

export interface PartsOptions {
  readonly folder: string;
  /** Loads what is no part. */
  readonly outside: NodeJS.Require;
  readonly cache: CodeCache;
  /** The files that hold several parts, by the names of these. */
  readonly together: Readonly<Record<string, string>>;
}

/** Loads the parts that the built command was divided into, each once; one that failed is tried again. Everything else is left to Node. */
export function createPartLoader({ folder, outside, cache, together }: PartsOptions): (name: string) => unknown {
  const loaded = new Map<string, { exports: unknown }>();
  const load = (name: string): unknown => {
    const group = together[name];
    return group === undefined ? run(name) : (run(group) as Group)[name];
  };
  const wants = (wanted: string): unknown => (wanted.startsWith('./') ? load(wanted.slice(2)) : outside(wanted));
  const run = (file: string): unknown => {
    const known = loaded.get(file);
    if (known) return known.exports;
    const module = { exports: {} };
    // Before it runs: parts may want each other.
    loaded.set(file, module);
    try {
      compile(folder, file, cache)(module.exports, wants, module, folder);
    } catch (error) {
      // Half of it must not pass for the whole when it is wanted again.
      loaded.delete(file);
      throw error;
    }
    return module.exports;
  };
  return load;
}

function compile(folder: string, name: string, cache: CodeCache): Part {
  const filename = path.join(folder, name);
  const cachedData = cache.find(name);
  const bytes = readFileSync(filename);
  // What is ASCII alone needs no decoding. The build writes little else: only what a tag reads of a template stays as it is.
  const script = new Script(bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8'), { filename, cachedData });
  if (cachedData === undefined || script.cachedDataRejected === true) cache.add(name, () => script.createCachedData());
  return script.runInThisContext() as Part;
}
