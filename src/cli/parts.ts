import { isAscii } from 'node:buffer';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Script } from 'node:vm';
import type { CodeCache } from './code-cache.ts';

/** What a part is: a function that is given what every CommonJS module has. */
type Part = (exports: unknown, require: (name: string) => unknown, module: { exports: unknown }, __dirname: string) => void;

export interface PartsOptions {
  readonly folder: string;
  /** Loads what is no part. */
  readonly outside: NodeJS.Require;
  readonly cache: CodeCache;
  /** The files of the parts that lie together in one, by their names. */
  readonly together: Readonly<Record<string, string>>;
}

/** Loads the parts that the built command was divided into, each once. Everything else is left to Node. */
export function createPartLoader({ folder, outside, cache, together }: PartsOptions): (name: string) => unknown {
  const loaded = new Map<string, { exports: unknown }>();
  const groups = new Map<string, Readonly<Record<string, Part>>>();
  const partOf = (name: string): Part | undefined => {
    const file = together[name];
    if (file === undefined) return compile(folder, name, cache) as Part;
    const group = groups.get(file) ?? (compile(folder, file, cache) as Readonly<Record<string, Part>>);
    groups.set(file, group);
    return group[name];
  };
  const load = (name: string): unknown => {
    const known = loaded.get(name);
    if (known) return known.exports;
    const module = { exports: {} };
    loaded.set(name, module);
    const wants = (wanted: string): unknown => (wanted.startsWith('./') ? load(wanted.slice(2)) : outside(wanted));
    partOf(name)?.(module.exports, wants, module, folder);
    return module.exports;
  };
  return load;
}

function compile(folder: string, name: string, cache: CodeCache): unknown {
  const filename = path.join(folder, name);
  const cachedData = cache.find(name);
  const bytes = readFileSync(filename);
  // What is ASCII alone needs no decoding. The build writes little else: only what a tag reads of a template stays as it is.
  const script = new Script(bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8'), { filename, cachedData });
  if (cachedData === undefined || script.cachedDataRejected === true) cache.add(name, () => script.createCachedData());
  return script.runInThisContext();
}
